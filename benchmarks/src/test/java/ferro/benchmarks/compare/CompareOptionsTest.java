package ferro.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.benchmarks.compare.Measurement.SizedCall;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompareOptionsTest {
    @Test
    void listsAreReadAndABarrierHasNoSizes() {
        CompareOptions options = CompareOptions.parse(List.of(
                "--out",
                "o",
                "--ranks",
                "2,4",
                "--collectives",
                "barrier,allgather",
                "--sizes",
                "4,64KiB",
                "--time",
                "5ms"));

        assertEquals(List.of(2, 4), options.ranks());
        assertEquals(Duration.ofMillis(5), options.time());
        assertEquals(
                List.of(
                        new SizedCall(4, "barrier", 0),
                        new SizedCall(4, "allgather", 4),
                        new SizedCall(4, "allgather", 65536)),
                options.items(4));
    }

    @Test
    void invalidOptionsAreNamed() {
        for (List<String> words : List.of(
                List.of("--out", "o", "--ranks", "1"),
                List.of("--out", "o", "--speed", "9"),
                List.of("--out", "o", "--collectives", "allredcue"),
                List.of("--out", "o", "--sizes"),
                List.of("--ranks", "2"))) {
            IllegalArgumentException misuse =
                    assertThrows(IllegalArgumentException.class, () -> CompareOptions.parse(words), words::toString);
            String named = words.contains("--speed") ? "--speed" : words.get(words.size() - 1);
            assertTrue(
                    misuse.getMessage().contains(named) || misuse.getMessage().contains("--out"), misuse::getMessage);
        }
    }
}
