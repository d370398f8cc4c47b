package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The seeds are worth something only if they find what is wrong: each planted mistake, within 10,000 seeds. */
@Tag("large")
class PlantedFaultsTest {
    private static final long SEEDS = 10_000;

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
    void seedsFindWhatIsPlanted(Planted planted, TestReporter reporter) {
        long seed = 1;
        while (seed <= SEEDS && holds(seed, planted)) {
            seed++;
        }
        reporter.publishEntry(planted.name(), planted.text() + ": found by seed " + seed);
        assertTrue(seed <= SEEDS, planted + " was not found: " + planted.text());
    }

    private static boolean holds(long seed, Planted planted) {
        try {
            FaultyRun.run(seed, planted);
            return true;
        } catch (AssertionError found) {
            return false;
        }
    }
}
