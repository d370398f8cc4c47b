package ferro.integration;

import ferro.harness.Child;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs scripts of folder benchmarks with the classes of this build; a folder has what they print. */
record BenchmarkScript(Path script, Path folder) {
    String run(int expected, String path, List<String> words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("bash", script.toString()));
        command.addAll(words);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("PATH", path);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("FERRO_COMPARE_CLASS_PATH", LauncherRun.classPath());
        builder.environment().putAll(LauncherRun.FOR_SHORT_LIVES);
        return Child.run(expected, builder) + "\n";
    }
}
