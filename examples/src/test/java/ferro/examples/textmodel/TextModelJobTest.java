package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Backend;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the full job, with ranks as threads. The tests take seconds, because the model has its real size. */
class TextModelJobTest {
    private static final String TEXT = "the quick brown fox jumps over the lazy dog; pack my box with jugs. ".repeat(9);

    private final ByteArrayOutputStream reported = new ByteArrayOutputStream();

    /** The step in which rank 1 receives SIGTERM, or 0 for no SIGTERM. */
    private int signalledStep;

    @TempDir
    private Path folder;

    @Test
    void jobTrainsChecksSamplesAndPlots() throws Exception {
        Path plot = folder.resolve("plot.png");

        List<Integer> exitCodes = run(4, TEXT, TEXT, "--steps=12", "--batch=34", "--out=" + plot, "--sample=40");

        String report = reported.toString(StandardCharsets.UTF_8);
        assertEquals(List.of(0, 0, 0, 0), exitCodes, report);
        assertTrue(report.contains("4 ranks, one model"), report);
        assertTrue(report.contains("check ok: parameters are bitwise equal on all 4 ranks, hash "), report);
        assertTrue(report.contains("check ok: the first 12 losses differ by at most "), report);
        assertTrue(Files.size(plot) > 1000, Files.size(plot) + " bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--shard"})
    void anotherNumberOfRanksGoesOnFromACheckpoint(String shard) throws Exception {
        List<String> always = new ArrayList<>(List.of("--batch=12", "--sample=0", "--out=" + folder + "/p.png"));
        always.addAll(shard.isEmpty() ? List.of() : List.of(shard));

        run(4, TEXT, TEXT, with(always, "--steps=6", "--save=" + folder));
        List<Integer> exitCodes = run(3, TEXT, TEXT, with(always, "--steps=10", "--resume=" + folder));

        String report = reported.toString(StandardCharsets.UTF_8);
        assertEquals(List.of(0, 0, 0), exitCodes, report);
        assertTrue(report.contains("resuming after step 6 of 4 ranks"), report);
        assertTrue(report.contains("check ok: the first 4 losses differ by at most "), report);
    }

    @Test
    void goingOnSavesIntoTheSameFolderAndIsCheckedByWhereItBegan() throws Exception {
        List<String> always = List.of("--batch=12", "--sample=0", "--out=" + folder + "/p.png");
        run(2, TEXT, TEXT, with(always, "--steps=3", "--save=" + folder));

        List<Integer> exitCodes =
                run(2, TEXT, TEXT, with(always, "--steps=7", "--resume=" + folder, "--save=" + folder));

        String report = reported.toString(StandardCharsets.UTF_8);
        assertEquals(List.of(0, 0), exitCodes, report);
        assertTrue(report.contains("check ok: the first 4 losses differ by at most "), report);
        assertTrue(report.contains("checkpoint of step 7: "), report);
        assertThrows(UsageException.class, () -> Options.parse("--save=" + folder));
    }

    @Test
    void aSignalToOneRankEndsAllAfterTheSameStepWithACheckpointToGoOnFrom() throws Exception {
        List<String> always = List.of("--batch=12", "--sample=0", "--out=" + folder + "/p.png");
        signalledStep = 4;
        List<Integer> stopped = run(3, TEXT, TEXT, with(always, "--steps=90", "--save=" + folder));
        signalledStep = 0;
        List<Integer> exitCodes = run(2, TEXT, TEXT, with(always, "--steps=6", "--resume=" + folder));

        String report = reported.toString(StandardCharsets.UTF_8);
        assertEquals(List.of(143, 143, 143), stopped, report);
        assertEquals(List.of(0, 0), exitCodes, report);
        assertTrue(report.contains("checkpoint of step 4: "), report);
        assertTrue(report.contains("resuming after step 4 of 3 ranks"), report);
    }

    private StopRequest stop(int rank) {
        int[] steps = {0};
        boolean isSignalled = rank == 1 && signalledStep > 0;
        return new StopRequest(() -> isSignalled && ++steps[0] >= signalledStep, group -> {
            int[] any = {isSignalled ? 1 : 0};
            group.allReduce(any, ReduceOp.MAX);
            return any[0] > 0;
        });
    }

    @Test
    void aCheckpointThatHasMadeAllStepsIsMisuse() throws Exception {
        String[] words = {"--batch=12", "--steps=3", "--sample=0", "--out=" + folder + "/p.png"};
        run(2, TEXT, TEXT, with(List.of(words), "--save=" + folder));

        ExecutionException failure = assertThrows(
                ExecutionException.class, () -> run(2, TEXT, TEXT, with(List.of(words), "--resume=" + folder)));

        assertEquals(UsageException.class, failure.getCause().getClass());
        assertTrue(failure.getMessage().contains("already has 3 steps, need a larger number"), failure.getMessage());
    }

    private static String[] with(List<String> words, String... more) {
        List<String> all = new ArrayList<>(words);
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    @Test
    void ranksWithOtherTextsThrow() {
        ExecutionException failure = assertThrows(
                ExecutionException.class, () -> run(2, TEXT, TEXT + "x", "--batch=6", "--out=" + folder + "/p.png"));

        assertEquals(UsageException.class, failure.getCause().getClass());
        assertTrue(
                failure.getMessage().contains("ranks [1] of 2 differ from rank 0 in the text"), failure.getMessage());
    }

    @Test
    void moreRanksThanSamplesAreMisuse() {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> run(3, TEXT, TEXT, "--batch=2"));

        assertEquals(UsageException.class, failure.getCause().getClass());
        assertTrue(failure.getMessage().contains("--batch 2: fewer samples than ranks"), failure.getMessage());
    }

    /** Runs all ranks. The last rank has a different text. */
    private List<Integer> run(int worldSize, String text, String textOfLast, String... arguments) throws Exception {
        Options options = Options.parse(arguments);
        PrintStream out = new PrintStream(reported, true, StandardCharsets.UTF_8);
        ExecutorService threads = Executors.newFixedThreadPool(worldSize);
        List<Future<Integer>> ends = new ArrayList<>();
        for (Backend backend : SimulatedBackend.createGroup(worldSize)) {
            boolean last = backend.rank() == worldSize - 1;
            TextSource source = new TextSource(last ? textOfLast : text, 1);
            ends.add(threads.submit(() -> {
                try (ProcessGroup group = ProcessGroup.of(backend)) {
                    return new TextModelJob(group, options, source, out, stop(group.rank())).run();
                }
            }));
        }
        List<Integer> exitCodes = new ArrayList<>();
        try {
            for (Future<Integer> end : ends) {
                exitCodes.add(end.get(60, TimeUnit.SECONDS));
            }
        } finally {
            threads.shutdownNow();
        }
        return exitCodes;
    }
}
