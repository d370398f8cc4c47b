package ferro.examples.jlama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.List;
import org.junit.jupiter.api.Test;

class SumTimesTest {
    /** Each sum is compared with the expected one. */
    @Test
    void starAndFerroAddTheSame() {
        List<List<String>> lines = Ranks.run(Medium.SHM, 2, Ranks.ON_DISK, group -> SumTimes.run(group, 3, 20));

        assertEquals(2, lines.get(0).size(), lines::toString);
        assertTrue(
                lines.get(0)
                        .get(1)
                        .matches("2 ranks, 9216 floats, .*: star \\d+ us, ferro \\d+ us, ratio \\d+\\.\\d\\d"),
                lines::toString);
        assertEquals(List.of(), lines.get(1));
    }
}
