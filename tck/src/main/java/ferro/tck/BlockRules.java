package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 312, 313 and 315, about blocks in {@link ProcessGroup#coalesced} and {@link ProcessGroup#coalescedAsync}. */
interface BlockRules extends TestedBackend {
    /** Checks that a block of calls gives the results of the single calls. */
    @Rule(312)
    default void aBlockGivesTheResultsOfSingleCalls() {
        for (int worldSize = 2; worldSize <= 4; worldSize++) {
            eachRank(worldSize, group -> {
                // short calls may be sent together, long calls are sent alone
                for (int max : new int[] {3, 40, 5000}) {
                    double[][] oneByOne = inputs(group.rank(), max);
                    calls(group, oneByOne).forEach(call -> group.submit(call).await());
                    double[][] together = inputs(group.rank(), max);
                    group.coalesced(() -> calls(group, together).forEach(group::submit));
                    double[][] started = inputs(group.rank(), max);
                    group.coalescedAsync(() -> calls(group, started).forEach(group::submit))
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

    /** Returns inputs of many lengths, so that a combined transfer may begin or end at any call. No sum is exact. */
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

    /** Returns a call for each tensor, without the scans that the back end refuses. */
    private static List<Collective> calls(ProcessGroup group, double[][] tensors) {
        List<Collective> calls = new ArrayList<>();
        for (int number = 0; number < tensors.length; number++) {
            Collective call = call(HostTensor.of(tensors[number]), number);
            if (!call.kind().isScan() || CallFactory.unsupported(group, call).isEmpty()) {
                calls.add(call);
            }
        }
        return calls;
    }

    private static Collective call(HostTensor tensor, int number) {
        ReduceOp op = number % 5 == 4 ? ReduceOp.MAX : ReduceOp.SUM;
        List<CollectiveKind> scans = CallFactory.kinds(CollectiveKind::isScan);
        return switch (number % 11) {
            case 3, 7 -> CallFactory.of(scans.get(number % scans.size()), tensor, tensor, op, -1);
            case 10 -> Collective.broadcast(tensor, number % 2);
            default -> Collective.allReduce(tensor, op);
        };
    }

    /** Checks that a block keeps its position in the order of all calls of a group. */
    @Rule(313)
    default void aBlockRunsAfterEarlierCalls() {
        CountDownLatch polled = new CountDownLatch(1);
        eachRank(2, group -> {
            if (group.rank() == 1) {
                RuleChecks.opens(polled, "rank 0 has not checked its block");
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

    /** Checks that messages of a block start at the end of the block, and that their handles are then done. */
    @Rule(value = 315, needs = ASYNCHRONOUS_MESSAGES)
    @ParameterizedTest(name = "{0} elements")
    @ValueSource(ints = {3, 40_000})
    default void messagesOfABlockStartAtItsEnd(int length) {
        eachRank(3, group -> {
            int next = (group.rank() + 1) % 3;
            int previous = (group.rank() + 2) % 3;
            for (boolean waits : new boolean[] {true, false}) {
                int[] own = new int[length];
                int[] received = new int[length];
                double[] sum = {group.rank() + 2};
                Work[] receive = new Work[1];
                Runnable block = () -> {
                    receive[0] = group.recvAsync(received, previous, 4);
                    group.send(own, next, 4);
                    group.allReduce(sum, ReduceOp.SUM);
                    // a message that had started would have zeros
                    Arrays.fill(own, group.rank() + 5);
                    assertThrows(IllegalStateException.class, () -> group.recv(received, previous, 4));
                    assertThrows(IllegalStateException.class, receive[0]::await);
                    assertFalse(receive[0].isDone(), "the receive has ended inside the block");
                };
                if (waits) {
                    group.coalesced(block);
                    assertTrue(receive[0].isDone(), "the receive has not ended with the block");
                } else {
                    Work all = group.coalescedAsync(block);
                    receive[0].await();
                    all.await();
                }
                assertEquals(9, sum[0], "sum of 2, 3 and 4");
                assertArrayEquals(RuleChecks.filled(length, previous + 5), received, "received message");
                assertEquals(previous, receive[0].status().orElseThrow().source(), "sender");
            }
            RuleChecks.works(group);
        });
    }
}
