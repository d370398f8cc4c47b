package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/**
 * Random programs with random faults. {@code -Dferro.seed=N} replays one; {@code -Dferro.simulation.seeds=1000000} runs so many.
 * They begin at 1, or at {@code -Dferro.simulation.first=N}, so that many can be run in parts.
 * {@code -Dferro.simulation.traces=FILE} writes the trace of each seed, so that the runs of two builds can be compared.
 */
class SeededFaultsTest {
    /** The same on each machine: about 10 s on one that does nothing else. */
    private static final long USUAL_SEEDS = 4_000;

    private static final long ENOUGH_SEEDS = 300;
    private static final long LEAST_PERCENT = 50;

    @Test
    @DisplayName("row 21, row 28: whatever goes wrong nobody hangs, and nobody is given wrong data")
    @Timeout(value = 6, unit = TimeUnit.HOURS)
    void noRankHangsOrGetsWrongDataUnderAnyFault(TestReporter reporter) throws IOException {
        SystemContext context = SystemContext.ofProcess();
        if (Settings.SEED.find(context).isPresent()) {
            Simulation.seeds(1, context).forEach(FaultyRun::run);
            return;
        }
        long seeds =
                context.setting("ferro.simulation.seeds").map(Long::valueOf).orElse(USUAL_SEEDS);
        long first =
                context.setting("ferro.simulation.first").map(Long::valueOf).orElse(1L);
        Optional<String> traces = context.setting("ferro.simulation.traces");
        if (traces.isPresent()) {
            writeTraces(traces.get(), first, seeds);
            return;
        }
        long begun = System.nanoTime();
        long useful = 0;
        for (long seed = first; seed < first + seeds; seed++) {
            useful += FaultyRun.strikes(seed) ? 1 : 0;
        }
        long micros = (System.nanoTime() - begun) / 1000;
        reporter.publishEntry("seeds", seeds + " from " + first + ", " + micros / seeds + " us each");
        long share = 100 * useful / seeds;
        reporter.publishEntry("a fault among three ranks or more", share + " %");
        assertTrue(seeds < ENOUGH_SEEDS || share >= LEAST_PERCENT, share + " % of the seeds are of use");
    }

    /** Writes seed, hash of the trace, virtual time in nanoseconds and number of events, one seed a line. */
    private static void writeTraces(String file, long first, long seeds) throws IOException {
        try (PrintWriter traces = new PrintWriter(file, StandardCharsets.UTF_8)) {
            for (long seed = first; seed < first + seeds; seed++) {
                Simulation.Result result = FaultyRun.run(seed);
                traces.println(seed + "," + result.traceHash() + ","
                        + result.virtualTime().toNanos() + "," + result.steps());
            }
        }
    }

    @Test
    void sameSeedGivesTheSameTrace() {
        Set<Long> traces = new HashSet<>();
        for (long seed = 1; seed <= 60; seed++) {
            Simulation.Result result = FaultyRun.run(seed);
            assertEquals(result, FaultyRun.run(seed), "seed " + seed);
            traces.add(result.traceHash());
        }
        assertEquals(60, traces.size(), "traces of 60 seeds");
    }
}
