package ferro.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.Averages.WeightedMeans;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AveragesTest {
    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("ferro.harness.Ranks#everywhere")
    void everySampleOfEveryRankCountsOnce(Medium medium, int worldSize) {
        List<WeightedMeans> found = Ranks.run(medium, worldSize, group -> {
            Averages averages = Averages.over(group, "loss", "accuracy");
            averages.add(group.rank() + 1, group.rank() + 2, 0.5);
            averages.add(3, 7, 0.25);
            return averages.exchange();
        });
        double count = 0;
        double loss = 0;
        double accuracy = 0;
        for (int rank = 0; rank < worldSize; rank++) {
            count += rank + 1 + 3;
            loss += (rank + 1) * (rank + 2) + 3 * 7;
            accuracy += (rank + 1) * 0.5 + 3 * 0.25;
        }
        WeightedMeans first = found.get(0);
        assertEquals((long) count, first.count());
        assertEquals(List.of("loss", "accuracy"), List.copyOf(first.values().keySet()));
        assertEquals(loss / count, first.values().get("loss"), 1e-12);
        assertEquals(accuracy / count, first.values().get("accuracy"), 1e-12);
        found.forEach(each -> assertEquals(first, each));
    }

    @Test
    void ranksWithoutDataDoNotCountAndEachExchangeStartsAgain() {
        Ranks.each(Medium.SIMULATED, 3, group -> {
            Averages averages = Averages.over(group, "loss");
            if (group.rank() == 1) {
                averages.takePartWithoutData();
            } else {
                averages.add(4, 2.5 + group.rank());
                averages.add(0, Double.NaN);
                assertEquals(3.5, averages.exchange().values().get("loss"));
            }
            WeightedMeans nothing = averages.exchange();
            assertEquals(0, nothing.count());
            assertEquals(Double.NaN, nothing.values().get("loss"));
        });
    }

    @Test
    void differentNamesAreRefusedOnAllRanks() {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 3)) {
            List<Throwable> failures = ranks.failures(
                    group -> Averages.over(group, (group.rank() == 2 ? "loss recall" : "loss").split(" ")));

            for (Throwable failure : failures) {
                assertEquals(
                        "names of averages differ: rank 0 [loss], rank 1 [loss], rank 2 [loss, recall]:"
                                + " use the same values on all 3 ranks, in the same order",
                        assertInstanceOf(IllegalArgumentException.class, failure)
                                .getMessage());
            }
            ranks.all(group -> Averages.over(group, "loss").exchange());
        }
    }

    @Test
    void valuesThatDoNotMatchTheNamesAreRefused() {
        Ranks.each(Medium.SIMULATED, 1, group -> {
            assertThrows(IllegalArgumentException.class, () -> Averages.over(group));
            assertThrows(IllegalArgumentException.class, () -> Averages.over(group, "loss", "loss"));
            Averages averages = Averages.over(group, "loss", "recall");
            String message = assertThrows(IllegalArgumentException.class, () -> averages.add(3, 1.5))
                    .getMessage();
            assertTrue(message.endsWith("for each of [loss, recall], found 3 samples and 1 values"), message);
            assertThrows(IllegalArgumentException.class, () -> averages.add(-1, 1.5, 2));
        });
    }
}
