package ferro.lightgbm.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Test;

class RankRowsTest {
    private static final Duration DEADLINE = Duration.ofMillis(200);

    @Test
    void ranksAreAtFaultIfMostRanksHaveAnotherNumberOfFeatures() {
        assertEquals("rank 0: the rows have 3 features, but those of most ranks have 2", refusal(3, 2, 2, 2));
        assertEquals(
                "rank 0: the rows have 3 features, but those of most ranks have 2 (ranks at fault: [0, 3])",
                refusal(3, 2, 2, 4, 2));
    }

    @Test
    void noRankIsAtFaultIfNoNumberOfFeaturesHasAMajority() {
        assertEquals(
                "rank 0: the numbers of features differ: 2 on ranks [1, 2], 3 on ranks [0, 3]", refusal(3, 2, 2, 3));
        assertEquals("rank 0: the numbers of features differ: 2 on ranks [0], 3 on ranks [1]", refusal(2, 3));
    }

    /** Rank 1 begins its call when the deadline of the other ranks' calls has passed. */
    @Test
    void ranksWaitForARankThatReadsBeyondTheTimeout() {
        CountDownLatch others = new CountDownLatch(2);

        SimulatedBackend.run(3, group -> {
            if (group.rank() == 1) {
                others.await();
                waitForLongerThanTheDeadline();
            } else {
                others.countDown();
            }
            rows(group.rank(), 2).requireRowsOnAllRanks(group.within(DEADLINE));
        });
    }

    /** Waits for a rank that makes no call, twice as long as the deadline. */
    private static void waitForLongerThanTheDeadline() {
        try (ProcessGroup ranks =
                ProcessGroup.of(SimulatedBackend.createGroup(2).get(0))) {
            FerroException failure = assertThrows(
                    FerroException.class,
                    () -> ranks.within(DEADLINE.multipliedBy(2)).barrier());
            assertEquals(FerroException.Code.TIMED_OUT, failure.code());
        }
    }

    /** Returns which rank throws, and its message, if the ranks have these numbers of features. */
    private static String refusal(int... features) {
        AssertionError failed = assertThrows(
                AssertionError.class,
                () -> SimulatedBackend.run(
                        features.length,
                        group -> rows(group.rank(), features[group.rank()]).requireRowsOnAllRanks(group)));
        assertEquals(IllegalArgumentException.class, failed.getCause().getClass());
        return failed.getMessage().replaceFirst("(?s) of [0-9]+ failed first: .*", ": ")
                + failed.getCause().getMessage();
    }

    private static RankRows rows(int rank, int features) {
        Row row = RowFactory.create(Vectors.dense(new double[features]), 1.0);
        return RankRows.read(List.of(row, row).iterator(), TrainingColumns.standard(), rank);
    }
}
