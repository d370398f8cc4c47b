package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.NettyModules.FoundModule;
import io.netty.util.Version;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NettyModulesTest {
    private static final Where RANK_THREE = Where.of("g", 3);
    private static final List<String> NEEDED = List.of(
            "netty-buffer",
            "netty-common",
            "netty-resolver",
            "netty-transport",
            "netty-transport-classes-epoll",
            "netty-transport-native-unix-common");

    private static final String WAY_OUT = ": depend on ferro or ferro-backend-tcp-shaded in place of ferro-backend-tcp,"
            + " because their Netty has names of its own; or give all parts of Netty one version from 4.2.1.Final on, in"
            + " Maven by importing io.netty:netty-bom";

    @Test
    void partsOfDifferentVersionsAreNamedByVersionAndJar() {
        Map<String, FoundModule> parts = Map.of(
                "netty-common", new FoundModule("4.2.13.Final", "/lib/common.jar"),
                "netty-buffer", new FoundModule("4.2.13.Final", "/lib/buffer.jar"),
                "netty-transport", new FoundModule("4.2.18.Final", "/lib/transport.jar"));

        assertEquals(
                Optional.of(
                        "the parts of Netty on the class path are of different versions: 4.2.13.Final of netty-buffer"
                                + " (/lib/buffer.jar), netty-common (/lib/common.jar); 4.2.18.Final of netty-transport"
                                + " (/lib/transport.jar): give all of them one version, in Maven by importing io.netty:netty-bom"),
                NettyModules.mixed(parts));
    }

    @Test
    void aPartWithoutAVersionIsNotReportedAsMixedOrOld() {
        Map<String, FoundModule> parts = all("4.2.18.Final");
        parts.put("netty-buffer", new FoundModule("", "/lib/fat.jar"));

        assertEquals(Optional.empty(), NettyModules.mixed(parts));
        assertEquals(Optional.empty(), NettyModules.unusable(parts));
    }

    @Test
    void oldPartsAreNamedWithVersionJarAndRemedy() {
        Map<String, FoundModule> parts = all("4.2.1.Final");
        assertEquals(Optional.empty(), NettyModules.unusable(parts));
        parts.put("netty-common", new FoundModule("4.1.118.Final", "/lib/old-common.jar"));
        parts.put("netty-buffer", new FoundModule("4.2.0.Final", "/lib/old-buffer.jar"));

        assertEquals(
                Optional.of("back end tcp needs Netty 4.2.1.Final or newer, found netty-buffer 4.2.0.Final in"
                        + " /lib/old-buffer.jar, netty-common 4.1.118.Final in /lib/old-common.jar" + WAY_OUT),
                NettyModules.unusable(parts));
    }

    @ParameterizedTest
    @ValueSource(strings = {"unspecified", "v4.2", "${netty.version}", "-"})
    void aVersionThatCannotBeComparedIsNotOld(String version) {
        Map<String, FoundModule> parts = all("4.2.18.Final");
        parts.put("netty-buffer", new FoundModule(version, "/lib/buffer.jar"));

        assertEquals(Optional.empty(), NettyModules.unusable(parts));
        assertTrue(NettyModules.mixed(parts).orElseThrow().contains(version + " of netty-buffer"), version);
    }

    /** A class loader may have the location of a jar with or without encoded characters. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPathWithASpaceIsShownDecoded(boolean encoded, @TempDir Path folder) throws Exception {
        Path original = Path.of(Version.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Path jar = Files.createDirectories(folder.resolve("my jars + more")).resolve("netty common.jar");
        Files.copy(original, jar);
        URL given = encoded ? jar.toUri().toURL() : new URL("file", null, jar.toString());
        try (URLClassLoader loader = new URLClassLoader(new URL[] {given}, null)) {
            FoundModule part = NettyModules.found(loader).get("netty-common");

            assertEquals(jar.toString(), part.jar());
            assertEquals(
                    NettyModules.found(NettyModulesTest.class.getClassLoader())
                            .get("netty-common")
                            .version(),
                    part.version());
        }
    }

    @Test
    void partsThatAreMissingAreNamed() {
        Map<String, FoundModule> parts = all("4.2.18.Final");
        parts.remove("netty-transport-native-unix-common");
        parts.remove("netty-transport-classes-epoll");

        assertEquals(
                Optional.of("back end tcp needs Netty 4.2.1.Final or newer, found no netty-transport-classes-epoll,"
                        + " netty-transport-native-unix-common on the class path" + WAY_OUT),
                NettyModules.unusable(parts));
    }

    @Test
    void anErrorOfNettyNamesAllPartsAndIsTheCause() {
        LinkageError missing = new NoClassDefFoundError("io/netty/channel/IoHandlerFactory");

        FerroException failure = assertThrows(
                FerroException.class,
                () -> NettyModules.with(RANK_THREE, () -> {
                    throw missing;
                }));

        assertEquals(Code.RENDEZVOUS, failure.code());
        assertSame(missing, failure.getCause());
        String version = NettyModules.found(NettyModulesTest.class.getClassLoader())
                .get("netty-common")
                .version();
        String message = failure.getMessage();
        assertTrue(message.contains("(" + missing + "), found netty-buffer " + version + " in "), message);
        assertTrue(message.contains("/netty-common-" + version + ".jar"), message);
        assertTrue(message.contains(WAY_OUT), message);
    }

    @Test
    void anErrorOnAThreadOfNettyNamesAllPartsToo() {
        LinkageError missing = new NoClassDefFoundError("io/netty/channel/IoHandlerFactory");
        FerroException aborted = new FerroException(Code.ABORTED, RANK_THREE, "cannot connect", missing);
        FerroException other = new FerroException(
                Code.RENDEZVOUS, RANK_THREE, "timed out", new IllegalStateException("io.netty.channel.X"));

        FerroException failure = assertThrows(FerroException.class, () -> thrown(aborted));

        assertEquals(Code.RENDEZVOUS, failure.code());
        assertSame(aborted, failure.getCause());
        assertTrue(failure.getMessage().contains("(" + missing + "), found netty-buffer "), failure.getMessage());
        assertSame(other, assertThrows(FerroException.class, () -> thrown(other)));
    }

    private static void thrown(FerroException failure) {
        NettyModules.with(RANK_THREE, () -> {
            throw failure;
        });
    }

    @Test
    void anErrorOfOtherClassesIsThrownUnchanged() {
        LinkageError other = new NoClassDefFoundError("org/example/Other");

        assertSame(
                other,
                assertThrows(
                        LinkageError.class,
                        () -> NettyModules.with(RANK_THREE, () -> {
                            throw other;
                        })));
    }

    @Test
    void thePartsOfThisBuildAreOfOneVersion() {
        assertEquals(Optional.empty(), NettyModules.mixed());
        assertEquals(Optional.empty(), NettyModules.unusable());
        assertEquals(
                9, NettyModules.found(NettyModulesTest.class.getClassLoader()).size());
    }

    private static Map<String, FoundModule> all(String version) {
        Map<String, FoundModule> parts = new HashMap<>();
        for (String part : NEEDED) {
            parts.put(part, new FoundModule(version, "/lib/" + part + ".jar"));
        }
        return parts;
    }
}
