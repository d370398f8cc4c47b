package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs a program until its end. */
final class Commands {
    private static final long TIMEOUT_SECONDS = 580;

    private Commands() {}

    /** Runs a command in a folder, and returns what it has printed; fails unless its exit status is 0. */
    static String run(Path folder, Map<String, String> variables, List<String> command)
            throws IOException, InterruptedException {
        Path printed = Files.createTempFile("printed", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile());
        builder.environment().putAll(variables);
        Process process = builder.start();
        try {
            boolean hasEnded = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            String said = Files.readString(printed);
            assertTrue(hasEnded, () -> "still running: " + command + "\n" + said);
            assertEquals(0, process.exitValue(), () -> command + "\n" + said);
            return said;
        } finally {
            process.destroyForcibly();
            Files.delete(printed);
        }
    }
}
