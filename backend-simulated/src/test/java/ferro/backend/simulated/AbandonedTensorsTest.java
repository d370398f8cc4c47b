package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Allocation;
import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tensors that all ranks share, when a call fails on the other ranks while one rank is held in the midst of it: the code of
 * its reduction waits until the others have failed and have written their tensors anew.
 */
@Timeout(120)
class AbandonedTensorsTest {
    private static final int HELD = 1;
    /** Elements of a part: three of the largest blocks. */
    private static final int PART = 3 << 18;

    private static final int BLOCK_MOST = 1 << 18;
    private static final float ANEW = 77;

    private CountDownLatch failed;

    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void aRankOfAFailedCallWritesNoOtherBlockOfTheTensor(int worldSize) {
        failed = new CountDownLatch(worldSize - 1);
        CountDownLatch heldHasEnded = new CountDownLatch(1);

        SimulatedBackend.run(worldSize, group -> {
            HostTensor tensor = allocated(group);
            if (group.rank() == HELD) {
                try {
                    assertThrows(FerroException.class, () -> group.allReduce(tensor, held()));
                } finally {
                    heldHasEnded.countDown();
                }
                return;
            }
            assertThrows(FerroException.class, () -> hasty(group).allReduce(tensor, ReduceOp.of("adds", this::add)));
            fill(tensor, ANEW);
            failed.countDown();
            await(heldHasEnded);
            for (int i = 0; i < tensor.elementCount(); i++) {
                boolean wasUnderWay = i >= HELD * PART && i < HELD * PART + BLOCK_MOST;
                assertTrue(wasUnderWay || tensor.getFloat(i) == ANEW, "element " + i + ": " + tensor.getFloat(i));
            }
        });
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void aCallThatReadsTensorsOfAFailedCallFails(int worldSize) {
        failed = new CountDownLatch(worldSize - 1);

        SimulatedBackend.run(worldSize, group -> {
            HostTensor tensor = allocated(group);
            HostTensor part = HostTensor.allocate(DataType.FLOAT32, PART);
            if (group.rank() == HELD) {
                assertThrows(FerroException.class, () -> group.reduceScatter(tensor, part, held()));
                return;
            }
            ReduceOp adds = ReduceOp.of("adds", this::add);
            assertThrows(FerroException.class, () -> hasty(group).reduceScatter(tensor, part, adds));
            fill(tensor, ANEW);
            failed.countDown();
        });
    }

    private static ProcessGroup hasty(ProcessGroup group) {
        return group.within(Duration.ofSeconds(2));
    }

    private static HostTensor allocated(ProcessGroup group) {
        Allocation made = group.allocate(DataType.FLOAT32, (long) group.worldSize() * PART);
        assertTrue(made.isShared(), made.whyNotShared());
        fill(made.tensor(), 2 + group.rank());
        return made.tensor();
    }

    private static void fill(HostTensor tensor, float value) {
        for (int i = 0; i < tensor.elementCount(); i++) {
            tensor.setFloat(i, value);
        }
    }

    /** Returns a sum whose code waits, at its first call, until the other ranks have failed. */
    private ReduceOp held() {
        return ReduceOp.of("adds", (left, right) -> {
            await(failed);
            add(left, right);
        });
    }

    private void add(HostTensor left, HostTensor right) {
        for (int i = 0; i < left.elementCount(); i++) {
            left.setFloat(i, left.getFloat(i) + right.getFloat(i));
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS), "not within 20 s");
        } catch (InterruptedException interrupted) {
            throw new AssertionError("the test was interrupted", interrupted);
        }
    }
}
