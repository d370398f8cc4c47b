package ferro.training.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.List;
import org.junit.jupiter.api.Test;

class TextComparerTest {
    @Test
    void equalTextsAreNotReported() {
        Ranks.each(Medium.SIMULATED, 3, group -> {
            TextComparer.requireEqual(group, "names", "[loss]");
            assertEquals(List.of(), TextComparer.differing(group, "names", ""));
        });
    }

    @Test
    void differentTextsAreReportedByRank() {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 3)) {
            List<Throwable> failures = ranks.failures(group -> {
                String own = group.rank() == 1 ? "" : "[loss]";
                assertEquals(List.of("[loss]", "", "[loss]"), TextComparer.differing(group, "names", own));
                TextComparer.requireEqual(group, "names", own);
            });
            failures.forEach(failure -> assertEquals(
                    "names differ: rank 0 [loss], rank 1 , rank 2 [loss]: use the same values on all 3 ranks, in the same order",
                    failure.getMessage()));
        }
    }

    @Test
    void ranksThatCompareDifferentThingsThrow() {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 2)) {
            List<Throwable> failures = ranks.failures(group -> {
                TextComparer.requireEqual(group, group.rank() == 0 ? "names" : "buckets", "[a]");
            });
            failures.forEach(failure -> assertEquals(
                    "ranks compare different things: rank 0 names, rank 1 buckets: make the same calls in the same order on"
                            + " all 2 ranks",
                    failure.getMessage()));
        }
    }
}
