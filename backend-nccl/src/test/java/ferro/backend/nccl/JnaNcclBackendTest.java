package ferro.backend.nccl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(StandIn.class)
class JnaNcclBackendTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @Test
    @DisplayName("2-02 3-22 3-33: rank 0 makes the id, the others fetch it, and host slices are reduced in place")
    void ranksThatMeetInAStoreReduceHostSlices() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.run(rank -> {
                float[] data = {1 + 3 * rank.rank(), 2 + 3 * rank.rank(), 3 + 3 * rank.rank()};
                HostTensor tensor = HostTensor.of(data);
                rank.run(new Collective.AllReduce(tensor, tensor, ReduceOp.SUM), SOON);
                assertArrayEquals(new float[] {5, 7, 9}, data);
            });
        }
    }
}
