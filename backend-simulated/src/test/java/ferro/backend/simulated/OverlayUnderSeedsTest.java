package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Random programs with random faults, on groups of which each rank tells only its neighbours. */
class OverlayUnderSeedsTest {
    private static final int SIZE = 16;
    private static final long SEEDS = 2_000;

    @ParameterizedTest
    @CsvSource({"8, 600", "16, 250", "40, 60"})
    @DisplayName("whatever goes wrong, ranks that tell only their neighbours agree, and nobody hangs")
    void ranksThatTellOnlyTheirNeighboursAgree(int size, int seeds) {
        for (long seed = 1; seed <= seeds; seed++) {
            FaultyRun.run(seed, size, Planted.NOTHING);
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.INCLUDE,
            names = {"NO_ABORT_FLOOD", "NOTHING_TOLD_ON", "FIRST_CAUSE_ONLY", "ONLY_HIGHER_TOLD"})
    @DisplayName("mistakes in what ranks tell are found there too")
    void mistakesAreFound(Planted planted) {
        long seed = 1;
        while (seed <= SEEDS && !isFound(seed, planted)) {
            seed++;
        }
        assertTrue(seed <= SEEDS, planted + " was not found: " + planted.text());
    }

    private static boolean isFound(long seed, Planted planted) {
        try {
            FaultyRun.run(seed, SIZE, planted);
            return false;
        } catch (AssertionError found) {
            return true;
        }
    }
}
