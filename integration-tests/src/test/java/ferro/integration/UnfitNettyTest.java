package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Back end TCP without a Netty of its own, on class paths whose Netty it cannot run with, or only just. */
class UnfitNettyTest {
    private static final String PLAIN = "org.example.rank.PlainRank";
    private static final String OLDEST = "4.2.1.Final";
    private static final String NEEDED = "back end tcp needs Netty " + OLDEST + " or newer, found ";
    private static final String WAY_OUT = ": depend on ferro or ferro-backend-tcp-shaded in place of ferro-backend-tcp";

    private static final List<String> ALL = List.of(
            "netty-buffer",
            "netty-codec-base",
            "netty-common",
            "netty-handler",
            "netty-resolver",
            "netty-transport",
            "netty-transport-classes-epoll",
            "netty-transport-native-epoll",
            "netty-transport-native-unix-common");

    @TempDir
    private Path folder;

    /** Parts of Netty 4.1 on a class path. */
    enum Mix {
        /** Somebody else manages the versions of all parts. */
        ONLY_OLD(ALL),
        /** A folder of jars stands in front of ferro's, as in Spark. */
        OLD_IN_FRONT(ALL),
        /** One library names one part. */
        OLD_COMMON(List.of("netty-common")),
        /** Another library names another part. */
        OLD_TRANSPORT(List.of("netty-transport"));

        private final List<String> parts;

        Mix(List<String> parts) {
            this.parts = parts;
        }

        List<Path> path(ProgramPaths paths) throws IOException {
            List<Path> path = new ArrayList<>(paths.unshadedFerro());
            if (this == ONLY_OLD) {
                path.addAll(paths.netty());
                return path;
            }
            path.addAll(ProgramPaths.nettyOfFerro());
            if (this == OLD_IN_FRONT) {
                path.addAll(0, paths.netty());
                return path;
            }
            for (String part : parts) {
                path.remove(ProgramPaths.part(part, path));
                path.add(jar(part, paths));
            }
            return path;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTooOldNettyIsNamedWithItsJarsAndTheRemedy(Mix mix) throws Exception {
        ProgramPaths paths = ProgramPaths.ofSpringBoot();
        List<String> expected = mix.parts.stream()
                .map(part -> part + " " + paths.nettyVersion() + " in " + jar(part, paths))
                .toList();

        String said = printed(mix.path(paths), 1);

        assertTrue(said.contains(NEEDED) && said.contains(WAY_OUT), said);
        String found = said.substring(said.indexOf(NEEDED) + NEEDED.length(), said.indexOf(WAY_OUT));
        assertEquals(expected, List.of(found.split(", ")), said);
    }

    @Test
    void withoutNettyTheErrorNamesTheMissingParts() throws Exception {
        String said = printed(ProgramPaths.ofSpringBoot().unshadedFerro(), 1);

        assertTrue(said.contains(NEEDED + "no netty-buffer, netty-common, netty-resolver, netty-transport, "), said);
        assertTrue(said.contains(WAY_OUT), said);
    }

    @Test
    @Tag("long")
    void ranksJoinOnTheOldestSupportedNetty() throws Exception {
        List<Path> path = new ArrayList<>(ProgramPaths.ofSpringBoot().unshadedFerro());
        path.addAll(ProgramPaths.netty(OLDEST));
        try (ProgramRanks ranks = new ProgramRanks(folder, path, "on")) {
            ranks.start(PLAIN);
            ranks.start(PLAIN);
            for (int rank = 0; rank < 2; rank++) {
                String said = ranks.result(rank);
                assertTrue(said.startsWith("product 12 119; data: over TCP (loopback) with TLS"), said);
                assertTrue(
                        said.endsWith("; sockets epoll; encryption all connections, by TLS 1.3 of the JDK; natives"
                                + " netty_transport_native_epoll_"),
                        said);
            }
        }
    }

    private static Path jar(String part, ProgramPaths paths) {
        String machine = System.getProperty("os.arch").equals("aarch64") ? "aarch_64" : "x86_64";
        return paths.netty().stream()
                .filter(jar ->
                        !jar.toString().matches(".*-linux-.*") || jar.toString().contains(machine))
                .filter(jar -> jar.getFileName().toString().matches(part.replace("codec-base", "codec") + "-\\d.*"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + part + " in " + paths.netty()));
    }

    private String printed(List<Path> path, int exitCode) throws Exception {
        try (ProgramRanks ranks = new ProgramRanks(folder, path, "off")) {
            ranks.start(PLAIN);
            return ranks.printed(0, exitCode);
        }
    }
}
