package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;

/** A program of folder config, compiled once, as users start it from its source. */
record ConfigProgram(String name, Path classes) {
    private static final Path CHECKOUT = Path.of("..");

    /** Exit status and printed lines of one run. */
    record Run(int exit, List<String> printed) {
        String text() {
            return String.join("\n", printed);
        }
    }

    /** Compiles a source, such as {@code config/words/Words.java}, into a folder. */
    static ConfigProgram compile(String source, Path classes) {
        Path file = CHECKOUT.resolve(source);
        int exit =
                ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", classes.toString(), file.toString());
        assertEquals(0, exit, source);
        return new ConfigProgram(file.getFileName().toString().replace(".java", ""), classes);
    }

    /** Runs the program in a folder, and waits until it has ended. */
    Run run(Path folder, String... arguments) throws IOException, InterruptedException {
        Path printed = Files.createTempFile(classes, "printed", ".txt");
        List<String> command = new ArrayList<>(List.of(
                LauncherRun.java(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes.toString(), name));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            assertTrue(process.waitFor(120, TimeUnit.SECONDS), () -> "still running: " + command);
            return new Run(process.exitValue(), Files.readAllLines(printed));
        } finally {
            process.destroyForcibly();
        }
    }
}
