package ferro.examples.files;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A test of how few lines a new medium needs. */
class LinesOfTheExampleTest {
    @Test
    void theTransportHasLessThan300LinesAsThePagesSay() throws IOException {
        int lines = 0;
        try (Stream<Path> sources = Files.list(Path.of("src/main/java/ferro/examples/files"))) {
            for (Path source : sources.toList()) {
                lines += Files.readAllLines(source).size();
            }
        }
        assertTrue(lines > 100 && lines < 300, "lines: " + lines);
    }
}
