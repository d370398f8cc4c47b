package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.group.SystemContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The output folder of this module, which the jar contains. */
class RenamedNettyTest {
    private static final Pattern OTHER_NETTY = Pattern.compile("(?<!ferro/shaded/)io/netty/");
    /** The renamed Netty, and back end tcp. */
    private static final int LEAST_CLASSES = 1_500;

    @Test
    void noClassRefersToUnshadedNetty() throws Exception {
        List<String> found = new ArrayList<>();
        List<Path> classes = files(output(), ".class");
        for (Path file : classes) {
            String content = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
            if (OTHER_NETTY.matcher(content).find()) {
                found.add(output().relativize(file).toString());
            }
        }

        assertEquals(List.of(), found);
        assertTrue(classes.size() > LEAST_CLASSES, () -> "only " + classes.size() + " classes in the output folder");
    }

    @Test
    void everyFileOutsidePackagesBelongsToFerro() throws Exception {
        Set<String> expected = new TreeSet<>(Set.of(
                "LICENSE",
                "NOTICE",
                "ferro.shaded.io.netty.versions.properties",
                "services/ferro.spi.BackendProvider",
                "services/ferro.spi.ControlLaneProvider",
                "services/ferro.spi.StoreProvider"));
        for (String machine : List.of("x86_64", "aarch_64")) {
            expected.add("native/libferro_shaded_netty_tcnative_linux_" + machine + ".so");
            expected.add("native/libferro_shaded_netty_transport_native_epoll_" + machine + ".so");
        }
        Path notes = output().resolve("META-INF");

        Set<String> found = files(notes, "").stream()
                .map(file -> notes.relativize(file).toString())
                .filter(name -> !name.startsWith("licenses/") && !name.equals("MANIFEST.MF"))
                .collect(Collectors.toCollection(TreeSet::new));

        assertEquals(expected, found);
        assertTrue(Files.exists(notes.resolve("licenses/netty/NOTICE.txt")), "no notice of Netty");
        assertTrue(
                Files.exists(notes.resolve("licenses/netty-tcnative/license/LICENSE.boringssl.txt")),
                "no licence of BoringSSL");
    }

    @Test
    void everyServiceFileNamesClassesOfThisJar() throws Exception {
        List<String> missing = new ArrayList<>();
        for (Path service : files(output().resolve("META-INF/services"), "")) {
            for (String name : Files.readAllLines(service)) {
                boolean isName = !name.isBlank() && !name.startsWith("#");
                if (isName && !Files.exists(output().resolve(name.replace('.', '/') + ".class"))) {
                    missing.add(service.getFileName() + ": " + name);
                }
            }
        }

        assertEquals(List.of(), missing);
    }

    @Test
    void theShadedJarUsesEpollAndOpenSsl() throws Exception {
        String machine = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        assumeTrue(machine.matches("Linux (amd64|aarch64)"), "natives are for Linux, found " + machine);
        try (SystemContext context = SystemContext.of(Map.of("ferro.tls", "on"))) {
            TcpOutlook outlook = TcpOutlook.of(context);

            assertEquals("epoll", outlook.sockets());
            assertEquals("all connections, by TLS 1.3 of OpenSSL", outlook.encryption());
            assertEquals(Optional.empty(), TcpOutlook.mixedNetty());
        }
    }

    private static Path output() throws Exception {
        return Path.of(TcpBackendProvider.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(
                            file -> Files.isRegularFile(file) && file.toString().endsWith(ending))
                    .toList();
        }
    }
}
