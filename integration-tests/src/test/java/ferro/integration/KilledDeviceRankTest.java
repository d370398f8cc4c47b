package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.integration.drill.Drill;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("long")
@ExtendWith(StandInPair.class)
@Timeout(120)
class KilledDeviceRankTest {
    private static final long DEADLINE_MILLIS = 20_000;
    /** Until the others know who is gone, and NCCL has aborted. */
    private static final long PROMISED_MILLIS = 500;

    @ParameterizedTest(name = "NCCL hears nothing of it: {0}")
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "1-32: kill -9 of a rank of NCCL ends the others long before their deadline, and they blame nobody else")
    void theOthersEndByTheirDeadline(boolean silent) throws Exception {
        try (Job job = PairFailureTest.start("nccl", silent, DEADLINE_MILLIS)) {
            long killed = System.nanoTime();
            job.rank(PairFailureTest.VICTIM).kill();

            for (int survivor : new int[] {0, 2}) {
                Child rank = job.rank(survivor);
                String failed = rank.next();
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed);
                rank.next();
                rank.next();
                rank.next();
                String message = rank.next();
                // NCCL knows at most that a rank is gone, and not which
                assertEquals("call PEER_LOST of rank " + PairFailureTest.VICTIM, failed, message);
                assertTrue(millis <= Drill.allowedMillis(PROMISED_MILLIS), millis + " ms until " + message);
                assertTrue(message.contains("rank " + survivor), message);
            }
        }
    }
}
