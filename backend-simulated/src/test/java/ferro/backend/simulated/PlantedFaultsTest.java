package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The seeds are worth something only if they find what is wrong: each planted mistake, within the 4,000 seeds of a usual run. */
@Tag("large")
class PlantedFaultsTest {
    private static final long SEEDS = 4_000;
    private static final long HARMLESS_SEEDS = 400;

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"NOTHING", "WRAPPED"})
    void theSeedsFindEveryPlantedMistake(Planted planted, TestReporter reporter) {
        long seed = 1;
        while (seed <= SEEDS && !finding(seed, Program.ANY_SIZE, planted).contains(planted.sign())) {
            seed++;
        }
        reporter.publishEntry(planted.name(), planted.text() + ": found by seed " + seed);
        assertTrue(seed <= SEEDS, planted + " was not found: " + planted.text());
    }

    @Test
    void aWrappedTransportWithoutMistakesIsNotReported() {
        for (long seed = 1; seed <= HARMLESS_SEEDS; seed++) {
            assertEquals("", finding(seed, Program.ANY_SIZE, Planted.WRAPPED));
        }
    }

    /** Returns what is wrong in the run of a seed with a mistake, empty if nothing is. */
    static String finding(long seed, int size, Planted planted) {
        try {
            FaultyRun.run(seed, size, planted);
            return "";
        } catch (AssertionError found) {
            return found.getMessage();
        }
    }
}
