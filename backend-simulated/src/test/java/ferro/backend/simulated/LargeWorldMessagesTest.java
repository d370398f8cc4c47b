package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.GoodbyeAck;
import ferro.control.failure.ControlMessage.GoodbyeRequest;
import ferro.control.failure.ControlMessage.LeaveReport;
import ferro.control.failure.ControlMessage.Query;
import ferro.control.failure.FailurePolicy;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many control messages the ranks of a large group send, with the real engine: per rank, at most 2 log n + 8. */
class LargeWorldMessagesTest {
    private static final int DEAD = 7;

    /** Counts the control messages of the group of all ranks. */
    private static final class Counter {
        private final int worldSize;
        private final int[] failures;
        private final int[] queries;
        private final int[] leaves;

        Counter(int worldSize) {
            this.worldSize = worldSize;
            failures = new int[worldSize];
            queries = new int[worldSize];
            leaves = new int[worldSize];
        }

        Simulation simulation() {
            return new Simulation(
                    worldSize, 48, Map.of(), new SteppedRank.EngineInputs(this::counted, FailurePolicy.SHIPPED));
        }

        private Transport counted(Transport straight) {
            // the group of the membership, which is made of this one, is not counted
            return new BentTransport(straight, other -> other) {
                @Override
                boolean sends(int peer, ByteBuffer message) {
                    count(rank(), peer, message);
                    return true;
                }
            };
        }

        private void count(int rank, int peer, ByteBuffer bytes) {
            ControlMessage message = ControlMessage.decode(bytes, worldSize);
            if (message instanceof Abort) {
                failures[rank]++;
            } else if (message instanceof Query) {
                // a failed group answers each query by its failure
                queries[peer]++;
            } else if (message instanceof Goodbye
                    || message instanceof GoodbyeAck
                    || message instanceof LeaveReport
                    || message instanceof GoodbyeRequest) {
                leaves[rank]++;
            }
        }

        private int bound() {
            return 2 * (32 - Integer.numberOfLeadingZeros(worldSize - 1)) + 8;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 256, 1024})
    @DisplayName("all ranks of a large group close it with at most 2 log n + 8 messages each")
    void aCloseCostsFewMessages(int worldSize) {
        Counter counter = new Counter(worldSize);
        counter.simulation()
                .onEveryRank(group -> group.allReduceAsync(new float[] {1}, ReduceOp.SUM))
                .run();
        for (int rank = 0; rank < worldSize; rank++) {
            int sent = counter.leaves[rank];
            assertTrue(sent > 0 && sent <= counter.bound(), "rank " + rank + " has sent " + sent);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 256, 1024})
    @DisplayName("the death of a rank of a large group costs the others at most 2 log n + 8 messages each")
    void aDeathCostsFewMessages(int worldSize) {
        Counter counter = new Counter(worldSize);
        OverlayUnderSeedsTest.death(counter.simulation().check(() -> check(counter)), worldSize, DEAD);
    }

    private static void check(Counter counter) {
        for (int rank = 0; rank < counter.worldSize; rank++) {
            if (rank != DEAD) {
                int sent = counter.failures[rank] + counter.leaves[rank] - counter.queries[rank];
                assertTrue(sent <= counter.bound(), "rank " + rank + " has sent " + sent);
            }
        }
    }
}
