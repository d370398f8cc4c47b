package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that a usage error ends with exit code 2 and one line, before a rank joins. */
class TextModelMainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    private Path folder;

    @BeforeEach
    void writeText() throws IOException {
        Files.writeString(folder.resolve("some.txt"), "all work and no play. ".repeat(30));
        Files.writeString(folder.resolve("none.txt"), "");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "other.txt | 1024 | other.txt: there is no such file or folder",
                "none.txt | 1024 | none.txt: found no text",
                "some.txt | 1024 | the text has 660 characters, need at least 1040",
                "some.txt | 3 | --batch 3: fewer samples than ranks, need at least 4 for 4 ranks"
            })
    void untrainableTextAndOptionsAreWrongUse(String text, String batch, String expected) {
        assertEquals(2, run(0, "--text", folder + "/" + text, "--batch", batch));
        assertPrinted(expected);
    }

    @Test
    void wrongUseIsPrintedByRankZeroOnly() {
        assertEquals(2, run(3, "--steps", "none"));
        assertEquals("", err.toString(StandardCharsets.UTF_8));

        assertEquals(2, run(0, "--steps", "none"));
        assertPrinted("--steps none: need an integer from 1");
    }

    private int run(int rank, String... arguments) {
        SystemContext process = SystemContext.of(Map.of("RANK", Integer.toString(rank), "WORLD_SIZE", "4"));
        return TextModelMain.run(process, stream(out), stream(err), arguments);
    }

    private void assertPrinted(String expected) {
        String printed = err.toString(StandardCharsets.UTF_8);
        assertTrue(printed.startsWith("ferro demo: ") && printed.contains(expected), printed);
        assertEquals(1, printed.lines().count(), printed);
    }

    private static PrintStream stream(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }
}
