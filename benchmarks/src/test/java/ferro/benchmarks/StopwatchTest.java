package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StopwatchTest {
    @ParameterizedTest(name = "measured for {0} ms")
    @CsvSource({"10, 60, 10", "150, 900, 150", "250, 1500, 200", "2000, 1500, 200"})
    void warmUpIsAsLongAsItsMeasurementIsWorth(long millis, long first, long further) {
        Stopwatch.Pace pace = Stopwatch.Pace.measuring(Duration.ofMillis(millis));

        assertEquals(
                new Stopwatch.Pace(Duration.ofMillis(first), Duration.ofMillis(further), Duration.ofMillis(millis)),
                pace);
    }
}
