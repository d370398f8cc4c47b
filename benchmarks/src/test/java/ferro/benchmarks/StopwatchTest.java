package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StopwatchTest {
    @ParameterizedTest(name = "measured for {0} ms")
    @CsvSource({"10, 60, 10", "150, 900, 150", "250, 1500, 200", "2000, 1500, 200"})
    void theWarmUpTimeDependsOnTheMeasuredTime(long millis, long first, long further) {
        Stopwatch.PhaseDurations pace = Stopwatch.PhaseDurations.measuring(Duration.ofMillis(millis));

        assertEquals(
                new Stopwatch.PhaseDurations(
                        Duration.ofMillis(first), Duration.ofMillis(further), Duration.ofMillis(millis)),
                pace);
    }

    @Test
    void aWarmUpLastsUntilTheCompilersAreIdle() {
        Stopwatch.WarmUpTracker first = warmUp(true);
        assertTrue(first.add(1490e6, 0));
        assertFalse(first.isOver(), "1.49 of 1.5 s");
        assertFalse(first.add(20e6, 2e6), "a tenth of the time is compilation");
        assertFalse(first.isOver(), "code was compiled in the last batch");
        assertTrue(first.add(150e6, 150e6 / 20));
        assertFalse(first.isOver(), "0.15 of 0.2 s without compilations");
        assertTrue(first.add(60e6, 0));
        assertTrue(first.isOver());
    }

    @Test
    void aLaterWarmUpMayLastAsLongAsTheFirst() {
        Stopwatch.WarmUpTracker further = warmUp(false);
        for (int batch = 0; batch < 119; batch++) {
            assertFalse(further.add(100e6, 100e6), "the compilers are busy");
            assertFalse(further.isOver(), "batch " + batch);
        }
        further.add(100e6, 100e6);
        assertTrue(further.isOver(), "12 s");
        assertTrue(warmUp(false).isShort(24e6));
        assertFalse(warmUp(false).isShort(26e6));
    }

    private static Stopwatch.WarmUpTracker warmUp(boolean isFirst) {
        return new Stopwatch.WarmUpTracker(Stopwatch.PhaseDurations.measuring(Duration.ofMillis(250)), isFirst);
    }
}
