package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The seeds are worth something only if they find what is wrong: each planted mistake, within 10,000 seeds. */
@Tag("large")
class PlantedFaultsTest {
    private static final long SEEDS = 10_000;
    private static final long HARMLESS_SEEDS = 400;
    /** What is wrong then, among other things. */
    private static final Map<Planted, String> SIGNS = Map.ofEntries(
            Map.entry(Planted.NO_ABORT_FLOOD, "does not know: "),
            Map.entry(Planted.NOTHING_TOLD_ON, " disagree "),
            Map.entry(Planted.ONLY_HIGHER_TOLD, " disagree "),
            Map.entry(Planted.FIRST_CAUSE_ONLY, " disagree "),
            Map.entry(Planted.CALLS_NOT_COMPARED, "untrue TIMED_OUT"),
            Map.entry(Planted.CONSEQUENCES_BLAMED, "untrue PEER_LOST"),
            Map.entry(Planted.LINKS_KEPT, "memory was touched"),
            Map.entry(Planted.HEADERS_NOT_COMPARED, "untrue PROTOCOL"),
            Map.entry(Planted.RECEIVED_TOO_EARLY, "wrong result"),
            Map.entry(Planted.SENT_TOO_EARLY, "wrong result"),
            Map.entry(Planted.LIMIT_IGNORED, "untrue TIMED_OUT"),
            Map.entry(Planted.TURNS_IGNORED, ", subgroup "),
            Map.entry(Planted.LATE_FLOOD, " ms late"),
            Map.entry(Planted.NO_ANSWERS, "untrue TIMED_OUT"));

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"NOTHING", "WRAPPED"})
    void seedsFindWhatIsPlanted(Planted planted, TestReporter reporter) {
        String sign = Objects.requireNonNull(SIGNS.get(planted), () -> "no sign of " + planted);
        long seed = 1;
        while (seed <= SEEDS && !finding(seed, planted).contains(sign)) {
            seed++;
        }
        reporter.publishEntry(planted.name(), planted.text() + ": found by seed " + seed);
        assertTrue(seed <= SEEDS, planted + " was not found: " + planted.text());
    }

    @Test
    void aTransportThatIsOnlyWrappedIsNotFound() {
        for (long seed = 1; seed <= HARMLESS_SEEDS; seed++) {
            assertEquals("", finding(seed, Planted.WRAPPED));
        }
    }

    private static String finding(long seed, Planted planted) {
        try {
            FaultyRun.run(seed, planted);
            return "";
        } catch (AssertionError found) {
            return found.getMessage();
        }
    }
}
