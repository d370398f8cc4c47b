package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs scripts of folder benchmarks with the classes of this build.
 *
 * @param script script
 * @param folder folder for what it prints
 */
record BenchmarkScript(Path script, Path folder) {
    /** Returns what a script prints. Fails if the script ends with another exit code than expected. */
    String run(int expected, String path, List<String> words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("bash", script.toString()));
        command.addAll(words);
        Path printed = Files.createTempFile(folder, "printed", ".txt");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(printed.toFile());
        builder.environment().put("PATH", path);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("FERRO_COMPARE_CLASS_PATH", LauncherRun.classPath());
        builder.environment().putAll(LauncherRun.FOR_SHORT_LIVES);
        Process process = builder.start();
        try {
            assertTrue(process.waitFor(90, TimeUnit.SECONDS), () -> "still running: " + command);
            String text = Files.readString(printed);
            assertEquals(expected, process.exitValue(), text);
            return text;
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
