package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.OnThread;
import ferro.harness.Ports;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs that have a Netty of their own beside ferro: the class paths of Spring Boot 3.5, and parts of them. */
class OtherNettyTest {
    private static final String PLAIN = "org.example.rank.PlainRank";
    private static final String WEB = "org.example.rank.WebRank";
    /** A bean beside the program of the guide: tells at the end of the JVM whether the group was closed. */
    private static final String CLOSED_OR_NOT = """
            package org.example;

            @org.springframework.stereotype.Component
            class ClosedOrNot {
                ClosedOrNot(ferro.group.ProcessGroup group) {
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                        try {
                            group.barrier();
                        } catch (IllegalStateException closed) {
                            System.out.println("the group is closed");
                        }
                    }));
                }
            }
            """;

    private static final String RESULT = "product 12 119; data: over TCP (loopback)";

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"true, off", "false, off", "true, on"})
    void ranksJoinBesideNetty41WithoutUsingIt(boolean inFront, String tls) throws Exception {
        List<Path> path = new ArrayList<>(ProgramPaths.ofSpringBoot().ferroAlone());
        path.addAll(inFront ? 0 : path.size(), ProgramPaths.ofSpringBoot().netty());
        Path loaded = folder.resolve("loaded");

        List<String> said = ranks(path, PLAIN, tls, loaded);

        String encrypted = tls.equals("on") ? "all connections, by TLS 1.3 of OpenSSL" : "none, set by ferro.tls";
        String natives = tls.equals("on") ? "ferro_shaded_netty_tcnative_linux_ " : "";
        for (String one : said) {
            assertTrue(one.startsWith(RESULT + (tls.equals("on") ? " with TLS" : "")), one);
            assertTrue(
                    one.endsWith("; sockets epoll; encryption " + encrypted + "; natives " + natives
                            + "ferro_shaded_netty_transport_native_epoll_"),
                    one);
        }
        String classes = Files.readString(loaded);
        assertTrue(classes.contains(" ferro.shaded.io.netty.channel.epoll.EpollIoHandler source: "), "log of classes");
        assertEquals(
                List.of(),
                classes.lines().filter(line -> line.contains(" io.netty.")).toList());
        // defining its events for JFR would take a fifth of the CPU time of a start
        assertFalse(classes.contains(" jdk.jfr.internal.MetadataRepository source: "), "events of Netty for JFR");
    }

    /** A class path of the command has what this one has, but for the tests and their libraries. */
    @Test
    void theClassPathOfRanksHasNoNettyAndOneTcpBackend() throws Exception {
        String path = LauncherRun.classPath();

        assertTrue(path.contains("backend-tcp-shaded"), path);
        assertEquals(
                List.of(),
                Stream.of(path.split(File.pathSeparator))
                        .filter(entry -> Path.of(entry).getFileName().toString().startsWith("netty-"))
                        .toList());
        String provider = "ferro/backend/tcp/TcpBackendProvider.class";
        assertEquals(
                1,
                Collections.list(getClass().getClassLoader().getResources(provider))
                        .size());
    }

    /** Each rank has a web server on Netty 4.1, which answers before and after the rank has joined. */
    @Test
    @Tag("long")
    void springBootRanksJoinBesideTheirWebServers() throws Exception {
        List<Path> path = ProgramPaths.ofSpringBoot().all();
        String version = ProgramPaths.ofSpringBoot().nettyVersion();
        assertTrue(version.startsWith("4.1."), version);

        List<String> said = ranks(path, WEB, "on", folder.resolve("loaded"));

        String answer = "netty " + version + " by reactor-http-epoll";
        for (String one : said) {
            assertTrue(one.startsWith(RESULT + " with TLS"), one);
            assertTrue(
                    one.contains("; sockets epoll; encryption all connections, by TLS 1.3 of OpenSSL; natives"), one);
            assertTrue(one.contains(" ferro_shaded_netty_transport_native_epoll_"), one);
            assertTrue(one.contains(" netty_transport_native_epoll_"), one);
            assertTrue(one.endsWith("; " + answer + ", " + answer), one);
        }
    }

    /** Rank 0 answers with a sum of both ranks. The end of its context ends both ranks. */
    @Test
    @Tag("long")
    void theSpringProgramOfTheGuideAnswersAndEndsAllRanks() throws Exception {
        Matcher program = Pattern.compile("(?s)<!-- file (SumApplication\\.java) -->\\R```java\\R(.*?)```")
                .matcher(Files.readString(Path.of("../docs/guide/servers.md")));
        assertTrue(program.find(), "no program of Spring on the page");
        Path source = Files.writeString(folder.resolve(program.group(1)), program.group(2));
        Path watch = Files.writeString(folder.resolve("ClosedOrNot.java"), CLOSED_OR_NOT);
        List<Path> path = new ArrayList<>(ProgramPaths.ofSpringBoot().all());
        String libraries = path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        Path classes = folder.resolve("program");
        runTool("javac", "-parameters", "-proc:none", "-cp", libraries, "-d", "" + classes, "" + source, "" + watch);
        path.add(0, classes);
        String port = "" + Ports.free();
        URI service = URI.create("http://127.0.0.1:" + port);
        try (ProgramRanks ranks = new ProgramRanks(folder, path, "off")) {
            ranks.start("org.example.SumApplication", "-Dserver.port=" + port, "-Dserver.address=127.0.0.1");
            ranks.start("org.example.SumApplication");
            OnThread.until(
                    "no answer of " + service,
                    () -> answer(HttpRequest.newBuilder(service.resolve("/sum?upTo=1000")))
                            .equals("500500"));
            answer(HttpRequest.newBuilder(service.resolve("/end")).POST(BodyPublishers.noBody()));
            for (int rank = 0; rank < 2; rank++) {
                String said = ranks.printed(rank, 0);
                assertTrue(said.contains("the group is closed"), said);
            }
        }
    }

    /** Returns the body of an answer, or an empty text while the server does not listen. */
    private static String answer(HttpRequest.Builder request) {
        try {
            return CLIENT.send(request.timeout(Duration.ofSeconds(60)).build(), BodyHandlers.ofString())
                    .body();
        } catch (IOException none) {
            // the server needs the cores for its start
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            return "";
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    /** The tool jlink takes no jar that is no module. */
    @Test
    @Tag("long")
    void ranksJoinInAJlinkImage() throws Exception {
        ProgramPaths paths = ProgramPaths.ofSpringBoot();
        String modules = paths.ferroAlone().stream()
                .filter(entry -> !entry.equals(paths.program()))
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        Path image = folder.resolve("image");
        // jdk.crypto.ec has keys of TLS, which are in java.base from JDK 22 on
        runTool("jlink", "-p", modules, "--add-modules", "ferro.backend.tcp,jdk.crypto.ec", "--output", "" + image);
        String java = image.resolve("bin/java").toString();
        try (ProgramRanks ranks = new ProgramRanks(folder, List.of(paths.program()), "on")) {
            ranks.startBy(java, PLAIN);
            ranks.startBy(java, PLAIN);
            for (int rank = 0; rank < 2; rank++) {
                String one = ranks.result(rank);
                assertTrue(one.startsWith(RESULT + " with TLS"), one);
                assertTrue(one.contains("; sockets epoll; encryption all connections, by TLS 1.3 of OpenSSL; "), one);
            }
        }
    }

    private static void runTool(String name, String... arguments) {
        ToolProvider tool = ToolProvider.findFirst(name).orElseThrow();
        assertEquals(0, tool.run(System.out, System.err, arguments), () -> name + " " + List.of(arguments));
    }

    /** Runs both ranks of a job, and returns their results. The second argument of a rank is its log of classes. */
    private List<String> ranks(List<Path> path, String program, String tls, Path loaded) throws Exception {
        try (ProgramRanks ranks = new ProgramRanks(folder, path, tls)) {
            ranks.start(program, "-Xlog:class+load:file=" + loaded);
            ranks.start(program);
            return List.of(ranks.result(0), ranks.result(1));
        }
    }
}
