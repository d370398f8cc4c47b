package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The main job and the README's program: processes, sockets, the real model, few steps. */
@Tag("text")
class DemoProcessTest {
    @TempDir
    private Path folder;

    @Test
    void fourProcessesTrainOneModelAndReportItCorrect() throws Exception {
        String text = text("it was the best of times, it was the worst of times; ".repeat(40));

        LauncherRun run = demo(LauncherRun.FOR_SHORT_LIVES, "--text", text, "--steps", "55", "--batch", "50")
                .ends(0);
        String report = String.join("\n", run.outLines());
        assertTrue(report.contains("[0] 4 ranks, one model; 2,120 characters"), report);
        assertTrue(report.contains("[0] check ok: parameters are bitwise equal on all 4 ranks"), report);
        assertTrue(report.contains("[0] check ok: the first 50 losses differ by at most "), report);
        assertTrue(report.contains("[0] are 4 ranks faster than one? "), report);
    }

    @Test
    @Tag("long")
    void aJobWithKilledRanksHasTheLossesOfAnUndisturbedJob() throws Exception {
        String text = text("it was the age of wisdom, it was the age of foolishness; ".repeat(40));
        Path temporary = Files.createDirectory(folder.resolve("temporary"));
        Map<String, String> variables = new HashMap<>(LauncherRun.FOR_SHORT_LIVES);
        variables.put("TMPDIR", temporary.toString());

        String[] options =
                ("--ranks 2 --steps 80 --batch 20 --seconds 1000 --restarts 1 --chaos 1ms --text " + text).split(" ");
        try (LauncherRun run = demo(variables, options)) {
            run.awaitErrLine("ferro: generation 1 of at most 1 starts in 1s: rank ");
            run.restOfLine("[0] trained ");
            assertEquals(0, run.exitCode(), run::toString);

            String report = String.join("\n", run.outLines());
            assertTrue(report.contains("[0] check ok: parameters are bitwise equal on all 2 ranks"), report);
            assertTrue(
                    report.matches(
                            "(?s).*\\[0] check ok: the losses of steps [0-9]+ to 80, after the last resume, differ"
                                    + " by at most 0\\.0e\\+00 \\(relative\\) from those of an undisturbed run, allowed 0e\\+00.*"),
                    report);
            String marks = run.outLines().stream()
                    .filter(line -> line.matches("\\[0] +\\|[ xo]*o[ xo]*"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(report));
            assertEquals("xo", marks.replaceAll("[^xo]", ""), report);
            try (Stream<Path> left = Files.list(temporary)) {
                assertEquals(
                        List.of(),
                        left.filter(file -> !file.getFileName().toString().startsWith("hsperfdata"))
                                .toList());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1024, need at least 1040", "3, fewer samples than ranks"})
    void wrongUseIsReportedInOneLineBeforeAnythingStarts(String batch, String why) throws Exception {
        LauncherRun run = demo(Map.of(), "--text", text("short ".repeat(20)), "--batch", batch)
                .ends(2);
        assertEquals(1, run.errLines().size(), run::toString);
        assertTrue(run.errText().startsWith("ferro demo: "), run::toString);
        run.assertErr(why);
    }

    @Test
    void helloSumsOneNumberPerRank() throws Exception {
        LauncherRun run = LauncherRun.start("run", "-n", "3", "ferro.examples.hello.HelloAllReduce")
                .ends(0);
        assertEquals("the sum is 6", run.restOfLine("[2] rank 2 of 3: "));
    }

    private static LauncherRun demo(Map<String, String> variables, String... options) throws IOException {
        return LauncherRun.words(variables, "demo", options);
    }

    private String text(String content) throws IOException {
        return Files.writeString(folder.resolve("text.txt"), content).toString();
    }
}
