package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Rules 312 and 313, about blocks of calls in {@link ProcessGroup#coalesced} and {@link ProcessGroup#coalescedAsync}.
 */
public interface BlockRules extends Subject {
    /**
     * Checks that a block of calls gives the same results as the same calls one by one. A back end may send several
     * calls of a block together.
     */
    @Rule(312)
    @Test
    default void aBlockOfCallsLeavesWhatTheyLeaveOneByOne() {
        for (int worldSize = 2; worldSize <= 4; worldSize++) {
            try (Ranks ranks = group(worldSize)) {
                ranks.run(group -> {
                    // short calls may be sent together, long calls are sent alone
                    for (int max : new int[] {3, 40, 5000}) {
                        double[][] oneByOne = inputs(group.rank(), max);
                        calls(oneByOne).forEach(call -> group.submit(call).await());
                        double[][] together = inputs(group.rank(), max);
                        group.coalesced(() -> calls(together).forEach(group::submit));
                        double[][] started = inputs(group.rank(), max);
                        group.coalescedAsync(() -> calls(started).forEach(group::submit))
                                .await();
                        for (int call = 0; call < oneByOne.length; call++) {
                            String which =
                                    "call " + call + " of a block, up to " + max + " elements, on rank " + group.rank();
                            assertArrayEquals(oneByOne[call], together[call], which);
                            assertArrayEquals(oneByOne[call], started[call], which + ", by coalescedAsync");
                        }
                    }
                });
            }
        }
    }

    /**
     * Returns inputs of many lengths, so that a combined transfer may begin or end at any call. No sum of the inputs is
     * exact.
     */
    private static double[][] inputs(int rank, int max) {
        double[][] inputs = new double[40][];
        for (int call = 0; call < inputs.length; call++) {
            inputs[call] = new double[1 + call * 7 % max];
            for (int index = 0; index < inputs[call].length; index++) {
                inputs[call][index] = (rank + 1.1) / (index + call + 3);
            }
        }
        return inputs;
    }

    private static List<Collective> calls(double[][] tensors) {
        List<Collective> calls = new ArrayList<>();
        for (int call = 0; call < tensors.length; call++) {
            HostTensor tensor = HostTensor.of(tensors[call]);
            calls.add(
                    call % 11 == 10
                            ? Collective.broadcast(tensor, call % 2)
                            : Collective.allReduce(tensor, call % 5 == 4 ? ReduceOp.MAX : ReduceOp.SUM));
        }
        return calls;
    }

    /** Checks that a block keeps its position in the order of all calls. */
    @Rule(313)
    @Test
    default void aBlockComesBehindWhatWasSubmittedBeforeIt() {
        CountDownLatch polled = new CountDownLatch(1);
        try (Ranks ranks = group(2)) {
            ranks.run(group -> {
                if (group.rank() == 1) {
                    assertTrue(polled.await(10, TimeUnit.SECONDS), "rank 0 has not checked its block");
                }
                long[] first = {group.rank() + 2};
                long[] second = {1};
                HostTensor tensor = HostTensor.of(first);
                Work before = group.allReduceAsync(tensor, ReduceOp.PRODUCT);
                Work block = group.coalescedAsync(() -> {
                    group.submit(Collective.allReduce(tensor, ReduceOp.SUM));
                    group.allReduceAsync(HostTensor.of(second), ReduceOp.SUM);
                });
                Work after = group.allReduceAsync(tensor, ReduceOp.PRODUCT);
                if (group.rank() == 0) {
                    assertFalse(block.await(Duration.ofMillis(30)), "done, but rank 1 has not called");
                    assertFalse(block.isDone(), "done, but rank 1 has not called");
                    polled.countDown();
                }
                block.await();
                assertTrue(before.isDone(), "a block ended before a call that was submitted before the block");
                assertEquals(2, second[0], "sum of ones");
                after.await();
                assertEquals(144, first[0], "a product, then a sum in the block, then a product");
                before.await();
            });
        }
    }
}
