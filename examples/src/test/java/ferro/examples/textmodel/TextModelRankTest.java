package ferro.examples.textmodel;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the full job, with ranks as threads. The tests take seconds, because the model has its real size. */
class TextModelRankTest {
    private static final String TEXT = "the quick brown fox jumps over the lazy dog; pack my box with jugs. ".repeat(9);

    private static final int CORES = 3;

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream reported = new ByteArrayOutputStream();

    @Test
    void theJobTrainsAndChecksItsLosses() throws Exception {
        List<Integer> exitCodes = run(4, TEXT, TEXT, "--steps=12", "--batch=34");

        String report = reported.toString(StandardCharsets.UTF_8);
        assertEquals(List.of(0, 0, 0, 0), exitCodes, report);
        assertTrue(report.contains("4 ranks, one model"), report);
        assertTrue(report.contains("check ok: parameters are bitwise equal on all 4 ranks, hash "), report);
        assertTrue(report.contains("check ok: the first 12 losses differ by at most "), report);
        Pattern answer =
                Pattern.compile("are 4 ranks faster than one\\? (yes|no), \\d+\\.\\d times as fast on 3 cores: "
                        + "[\\d,]+ characters/s beside [\\d,]+ of one rank \\(median step after warm-up\\)\n");
        assertTrue(answer.matcher(report).find(), report);
    }

    @Test
    @Tag("long")
    void aRestartedJobHasTheLossesOfAnUndisturbedRun() throws Exception {
        String saved = "--checkpoints=" + folder;
        run(2, TEXT, TEXT, "--steps=40", "--batch=20", "--seconds=1000", saved);
        reported.reset(); // the last checkpoint has step 25

        List<Integer> exitCodes = run(2, TEXT, TEXT, "--steps=40", "--batch=20", "--seconds=1000", saved);

        String report = reported.toString(StandardCharsets.UTF_8);
        assertEquals(List.of(0, 0), exitCodes, report);
        assertSays(report, "check ok: the losses of steps 26 to 40, after the last resume, differ by at most 0.0e+00");
    }

    @Test
    void ranksWithDifferentTextsThrow() {
        AssertionError failure = assertThrows(AssertionError.class, () -> run(2, TEXT, TEXT + "x", "--batch=6"));

        assertEquals(IllegalArgumentException.class, failure.getCause().getClass());
        assertSays(failure.getMessage(), "ranks [1] of 2 differ from rank 0 in the text");
    }

    @Test
    void moreRanksThanSamplesAreRefused() {
        AssertionError failure = assertThrows(AssertionError.class, () -> run(3, TEXT, TEXT, "--batch=2"));

        assertEquals(IllegalArgumentException.class, failure.getCause().getClass());
        assertTrue(failure.getMessage().contains("--batch 2: fewer samples than ranks"), failure.getMessage());
    }

    private List<Integer> run(int worldSize, String text, String textOfLast, String... arguments) {
        Options options = Options.parse(arguments);
        PrintStream out = new PrintStream(reported, true, StandardCharsets.UTF_8);
        return Ranks.run(Medium.SIMULATED, worldSize, group -> {
            TrainingText source = TrainingText.of(group.rank() == worldSize - 1 ? textOfLast : text, 1);
            return new TextModelRank(group, options, source, CORES, out).run();
        });
    }
}
