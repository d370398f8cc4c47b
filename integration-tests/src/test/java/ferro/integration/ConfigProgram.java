package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Child;
import ferro.harness.Jvm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;

/** A program of folder config, compiled once, as users start it from its source. */
record ConfigProgram(String name, Path classes) {
    private static final Path CHECKOUT = Path.of("..");

    record Run(int exit, List<String> printed) {
        String text() {
            return String.join("\n", printed);
        }
    }

    /** Compiles a source, such as {@code config/words/Words.java}, into a folder. */
    static ConfigProgram compile(String source, Path classes) {
        Path file = CHECKOUT.resolve(source);
        compile("", file.toString(), classes);
        return new ConfigProgram(file.getFileName().toString().replace(".java", ""), classes);
    }

    /** Compiles a source that needs a class path. */
    static void compile(String classPath, String source, Path classes) {
        int exit = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", classPath, "-d", classes.toString(), source);
        assertEquals(0, exit, source);
    }

    Run run(Path folder, String... arguments) throws IOException, InterruptedException {
        List<String> command = Jvm.line(classes.toString(), List.of(), name, (Object[]) arguments);
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        try (Child child = Child.start(builder)) {
            return new Run(child.exitCode(), child.outLines());
        }
    }
}
