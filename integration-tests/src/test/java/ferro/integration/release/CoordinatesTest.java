package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import ferro.integration.Checkout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code .ci/coordinates}, which gives the artifacts another group. */
@Tag("text")
class CoordinatesTest {
    /** In parts, so that the way back leaves this class as it is. */
    private static final String GROUP = String.join(".", "com", "acme", "tools");

    @TempDir
    private Path folder;

    @Test
    void newCoordinatesReplaceTheOldGroupInValidPoms() throws Exception {
        assumeTrue(Maven.isInstalled(), "no mvn on the path");
        Path copy = Checkout.copy(Checkout.ROOT, folder.resolve("copy"));
        String old = Checkout.group();
        assertTrue(filesWith(copy, old).size() > 20, () -> "few files have " + old);

        coordinates(copy, GROUP);

        assertEquals(List.of(), filesWith(copy, old));
        assertEquals(List.of(), filesWith(copy, old.replace('.', '/')));
        assertEquals(GROUP, Checkout.group(copy));
        Maven.without(GROUP, folder.resolve("repository"))
                .run(Path.of(System.getProperty("java.home")), copy, Map.of(), "-q", "validate", "-Dferro.quick");
        coordinates(copy, old);
        for (Path file : filesWith(copy, "")) {
            Path original = Checkout.ROOT.resolve(copy.relativize(file));
            assertEquals(-1, Files.mismatch(original, file), () -> original + " is another one after the way back");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "com..acme", "com/acme", "1com", "com.acme.", "com acme"})
    void anInvalidGroupIsRefused(String group) throws Exception {
        Files.writeString(folder.resolve("pom.xml"), "<groupId>org.before</groupId>");
        Path script = Files.createDirectory(folder.resolve(".ci")).resolve("coordinates");
        Files.copy(Checkout.ROOT.resolve(".ci/coordinates"), script, java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);

        Child.run(2, new ProcessBuilder(script.toString(), group));

        assertEquals("org.before", Checkout.group(folder));
    }

    private static void coordinates(Path copy, String group) throws Exception {
        Commands.run(copy, Map.of(), List.of(".ci/coordinates", group));
    }

    private static List<Path> filesWith(Path folder, String text) throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (Files.readString(file, StandardCharsets.ISO_8859_1).contains(text)) {
                    found.add(file);
                }
            }
        }
        return found;
    }
}
