package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What runs jobs for many programs, each with a loader of its own, keeps none of them for ferro's sake. */
class CollectedLoadersTest {
    private static final int PATIENCE_SECONDS = 300;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"OWN, TCP", "OWN, SHM", "OWN, TLS", "SHARED, TCP", "SHARED, SHM", "SHARED, TLS"})
    void programsAreCollected(String ferro, Links links) throws Exception {
        Path output = folder.resolve("output");
        List<String> line = JavaLine.rank(List.of("-Xmx256m"), ProgramsInLoaders.class.getName(), ferro, links.name());
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "still running");
            assertEquals(0, process.exitValue(), () -> read(output));
        } finally {
            process.destroyForcibly();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            return unreadable.toString();
        }
    }
}
