package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.RestartRules.RestartDecision;
import ferro.launcher.input.RestartLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When a job starts again, by a clock of the test. */
class RestartRulesTest {
    private static final int KILLED = 137;

    private long now = 17;

    private RestartRules rules(int most) {
        return new RestartRules(new RestartLimit(most, Optional.empty()), () -> now);
    }

    private RestartRules rules(int most, Duration window) {
        return new RestartRules(new RestartLimit(most, Optional.of(window)), () -> now);
    }

    private static void assertEnds(String why, RestartDecision end) {
        assertFalse(end.restarts());
        assertEquals(why, end.why());
    }

    @Test
    void aJobWithoutRestartsEndsWithoutAReason() {
        assertEnds("", rules(0).afterFailure(KILLED, true));
    }

    @Test
    void restartsAreCountedAndTheFailureAfterTheLastEndsTheJob() {
        RestartRules rules = rules(2);

        assertEquals(1, rules.afterFailure(KILLED, true).number());
        assertEquals(2, rules.afterFailure(1, true).number());
        assertEnds("all 2 restarts are used", rules.afterFailure(KILLED, true));
        RestartRules one = rules(1);
        one.afterFailure(KILLED, true);
        assertEnds("the only restart is used", one.afterFailure(KILLED, true));
    }

    @Test
    void theDelayIsASecondAtFirstAndDoublesUpToAMinute() {
        RestartRules rules = rules(100);
        List<Long> waits = new ArrayList<>();
        for (int failure = 0; failure < 80; failure++) {
            waits.add(rules.afterFailure(KILLED, true).delay().toSeconds());
        }

        assertEquals(List.of(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L), waits.subList(0, 8));
        assertEquals(60L, waits.get(79));
    }

    @Test
    void failuresOutsideTheWindowAreNotCounted() {
        RestartRules rules = rules(2, Duration.ofHours(1));
        rules.afterFailure(KILLED, true);
        now += Duration.ofMinutes(59).toNanos();
        assertEquals(Duration.ofSeconds(2), rules.afterFailure(KILLED, true).delay());
        now += Duration.ofMinutes(2).toNanos();

        RestartDecision third = rules.afterFailure(KILLED, true);
        assertTrue(third.restarts());
        assertEquals(2, third.number(), "the first failure is older than an hour");
        assertEnds("all 2 restarts in 1h are used", rules.afterFailure(KILLED, true));
    }

    @Test
    void theClockMayOverflow() {
        now = Long.MAX_VALUE - 5;
        RestartRules rules = rules(1, Duration.ofNanos(100));
        rules.afterFailure(KILLED, true);
        now += 50;

        assertFalse(rules.afterFailure(KILLED, true).restarts());
    }

    @Test
    void exitCode2IsNeverRestarted() {
        assertEnds("exit code 2 means wrong input, which a restart does not change", rules(3).afterFailure(2, true));
    }

    @Test
    void twoGenerationsInARowWithoutAJoinEndTheJob() {
        RestartRules rules = rules(9);
        assertTrue(rules.afterFailure(1, false).restarts());
        assertTrue(rules.afterFailure(1, true).restarts(), "a generation that joined lies between");
        assertTrue(rules.afterFailure(1, false).restarts());

        assertEnds("no rank joined in 2 generations in a row", rules.afterFailure(1, false));
    }
}
