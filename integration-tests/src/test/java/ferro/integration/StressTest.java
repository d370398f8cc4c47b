package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Jvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the tests of jcstress, in which two threads use one object at once. CONTRIBUTING.md has the command. The annotation
 * processor of jcstress makes a program of each test, here and not in the build, which would take longer by it.
 *
 * <p>{@code -Dstress.tests=REGEX} picks tests, and {@code -Dstress.options="-m default"} searches longer.
 */
@Tag("stress")
class StressTest {
    private static final List<Path> SOURCES =
            List.of(Path.of("src/test/java/ferro/collectives"), Path.of("src/test/java/ferro/recorder"));

    /** About 20 s a test. The sanity mode runs each test once, which shows nothing. */
    private static final String OPTIONS = "-f 1 -fsm 1 -iters 1 -time 200";

    private static final long LIMIT_MINUTES = 120;

    @TempDir
    private Path folder;

    @Test
    @Timeout(value = LIMIT_MINUTES + 1, unit = TimeUnit.MINUTES)
    void noJcstressTestHasAForbiddenOutcome() throws Exception {
        String path = compiled() + File.pathSeparator + System.getProperty("java.class.path");
        List<String> line = new ArrayList<>(List.of(Jvm.java(), "-cp", path, "org.openjdk.jcstress.Main"));
        line.addAll(List.of(System.getProperty("stress.options", OPTIONS).split(" ")));
        line.addAll(List.of("-sc", "false", "-t", System.getProperty("stress.tests", ".*"), "-r", "" + folder));
        ProcessBuilder builder =
                new ProcessBuilder(line).directory(folder.toFile()).redirectErrorStream(true);
        try (Child jcstress = new Child(builder, Duration.ofMinutes(LIMIT_MINUTES))) {
            String text = jcstress.ended(0);
            assertTrue(text.contains(" passed"), text);
        }
    }

    /** Compiles the tests of jcstress, and returns the folder of their classes and of the programs that the processor makes. */
    private Path compiled() throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        List<String> line = new ArrayList<>(List.of("-proc:full", "-d", "" + classes));
        if (Runtime.version().feature() < 21) {
            line.remove(0);
        }
        line.addAll(List.of("-cp", System.getProperty("java.class.path")));
        for (Path sources : SOURCES) {
            try (Stream<Path> files = Files.walk(sources)) {
                files.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(line::add);
            }
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, line.toArray(String[]::new)));
        return classes;
    }
}
