package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a simulation of many ranks makes before it is needed. */
class LargeWorldTest {
    private static final String ENTRIES = "ferro.recorder.entries";

    @Test
    void pathsBetweenRanksAreCreatedWhenNeeded() {
        SeededMedium medium = new SeededMedium(new EventQueue(7, 10_000), 10_000, rank -> null);
        assertEquals(0, medium.waysMade());
        medium.later(9_999, 3, () -> {});
        medium.later(9_999, 3, () -> {});
        medium.later(3, 9_999, () -> {});
        assertEquals(2, medium.waysMade());
    }

    @Test
    void theFlightRecordersOfManyRanksAreSmall() {
        assertEquals(Map.of(), SimulatedContext.withSmallRecorder(Map.of(), 128));
        assertEquals(Map.of(ENTRIES, "262"), SimulatedContext.withSmallRecorder(Map.of(), 1_000));
        assertEquals(Map.of(ENTRIES, "64"), SimulatedContext.withSmallRecorder(Map.of(), 10_000));
        Map<String, String> set = Map.of(ENTRIES, "4096");
        assertEquals(set, SimulatedContext.withSmallRecorder(set, 10_000));
    }
}
