package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WithoutBenchmarksTest {
    private static final String WITHOUT = Stream.of(LauncherRun.classPath().split(File.pathSeparator))
            .filter(entry -> !isOfBenchmarks(Path.of(entry)))
            .collect(Collectors.joining(File.pathSeparator));

    private static boolean isOfBenchmarks(Path entry) {
        Path module = Path.of("../benchmarks").toAbsolutePath().normalize();
        return entry.startsWith(module) || entry.getFileName().toString().startsWith("ferro-benchmarks");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bench", "bench allreduce -n 2 --sizes 4", "bench --help"})
    void withoutBenchmarksBenchReportsWhatIsMissingInOneLine(String typed) throws Exception {
        assertNotEquals(LauncherRun.classPath(), WITHOUT);
        LauncherRun run =
                LauncherRun.onClassPath(WITHOUT, Map.of(), typed.split(" ")).ends(2);
        assertEquals(List.of(), run.outLines());
        assertEquals(
                List.of("ferro bench: needs ferro-benchmarks, which is not on the class path: add its jar, or start"
                        + " ./ferro of a checkout"),
                run.errLines());
    }

    @Test
    void withoutBenchmarksEveryOtherCommandWorks() throws Exception {
        LauncherRun run = LauncherRun.onClassPath(WITHOUT, Map.of(), "help").ends(0);
        String said = String.join("\n", run.outLines());
        for (String command :
                List.of("run", "demo", "bench", "analyze", "dump", "doctor", "classpath", "archive", "secret")) {
            assertTrue(said.contains("\n  " + command + " "), said);
        }
        LauncherRun.onClassPath(WITHOUT, Map.of(), "run", "-n", "1", "--", "true")
                .ends(0);
    }
}
