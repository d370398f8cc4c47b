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

/** Tests of the rows of ranks, without a Spark context. */
class RankRowsTest {
    private static final Duration DEADLINE = Duration.ofMillis(200);

    /** Rank 1 begins its call when the deadline of the other ranks' calls has passed. */
    @Test
    void ranksWaitForARankThatReadsForLongerThanTheDeadline() {
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

    private static RankRows rows(int rank, int features) {
        Row row = RowFactory.create(Vectors.dense(new double[features]), 1.0);
        return RankRows.read(List.of(row, row).iterator(), TrainingColumns.standard(), rank);
    }
}
