package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.Ranks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Blocks of calls that run together, over memory that the ranks share and over links. */
@Timeout(60)
class CoalescedTest {
    static final Map<String, String> SHARED = Map.of();
    static final Map<String, String> LINKS = Map.of("ferro.links", "tcp");

    static Stream<Arguments> groups() {
        return Stream.of(SHARED, LINKS).flatMap(how -> Stream.of(1, 2, 3, 4).map(size -> Arguments.of(how, size)));
    }

    private static List<Throwable> onEveryRank(Map<String, String> how, int size, Ranks.RankCode program) {
        try (Ranks ranks = Ranks.of(SimulatedBackend.createGroup(size, how), size)) {
            return ranks.outcomes(Ranks.LIMIT, program);
        }
    }

    @ParameterizedTest
    @MethodSource("groups")
    void aCallOfABlockReadsTheResultsOfEarlierCalls(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            long[] first = {group.rank() + 5};
            long[] second = {7};
            long[] all = new long[size];
            group.coalesced(() -> {
                group.broadcast(first, 0);
                group.allReduce(first, ReduceOp.SUM);
                group.allReduce(second, ReduceOp.SUM);
                group.submit(Collective.allGather(HostTensor.of(first), HostTensor.of(all)));
            });
            assertEquals(5L * size, first[0], "a broadcast, then a joined sum of what it has brought");
            long[] need = new long[size];
            Arrays.fill(need, 5L * size);
            assertArrayEquals(need, all, "gathered from what the sum has left");
        });
    }

    @ParameterizedTest
    @MethodSource("groups")
    void aBlockKeepsItsPositionInTheOrderOfCalls(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            for (int turn = 0; turn < 20; turn++) {
                long[] first = {3};
                long[] second = {5};
                long[] third = {7};
                Work[] inside = new Work[1];
                Work before = group.allReduceAsync(HostTensor.of(first), ReduceOp.SUM);
                group.coalesced(() -> List.of(first, second).forEach(data -> group.allReduce(data, ReduceOp.SUM)));
                assertEquals(3L * size * size, first[0], "a block starts from what the call before it leaves");
                before.await();
                Work all = group.coalescedAsync(() -> {
                    group.allReduce(first, ReduceOp.SUM);
                    inside[0] = group.allReduceAsync(HostTensor.of(second), ReduceOp.SUM);
                    group.coalesced(() -> group.broadcast(third, size - 1));
                });
                group.allReduce(first, ReduceOp.SUM);
                assertEquals(
                        3L * size * size * size * size,
                        first[0],
                        "a call behind the block starts from what the block leaves");
                if (turn % 2 == 0) {
                    all.await();
                } else {
                    inside[0].await();
                }
                assertTrue(all.isDone() && inside[0].isDone());
                inside[0].completion().toCompletableFuture().join();
                assertEquals(5L * size * size, second[0]);
                assertEquals(7, third[0]);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("groups")
    void aBlockWithoutAWaiterEndsWithTheGroup(Map<String, String> how, int size) {
        List<Throwable> ends = onEveryRank(how, size, group -> {
            long[] data = {3};
            Work[] inside = new Work[1];
            Work all = group.coalescedAsync(() -> {
                inside[0] = group.allReduceAsync(HostTensor.of(data), ReduceOp.SUM);
                if (group.rank() > 0) {
                    group.allReduce(new long[4], ReduceOp.SUM);
                }
            });
            FerroException told = null;
            try {
                all.await();
                group.barrier();
            } catch (FerroException failure) {
                told = failure;
            }
            assertEquals(size > 1, told != null, "whether blocks that differ end the group");
            if (told != null) {
                assertEquals(FerroException.Code.MISMATCH, told.code(), told.getMessage());
                assertTrue(all.isDone() && inside[0].isDone());
                assertThrows(FerroException.class, inside[0]::await);
                assertThrows(
                        CompletionException.class,
                        () -> inside[0].completion().toCompletableFuture().join());
            }
        });
        ends.stream().filter(end -> end instanceof AssertionError).forEach(end -> {
            throw (AssertionError) end;
        });
    }

    @ParameterizedTest
    @MethodSource("groups")
    void aCallAfterABlockThatThrewDoesNotBelongToTheBlock(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            long[] after = {3};
            assertThrows(
                    IllegalStateException.class,
                    () -> group.coalesced(() -> {
                        Work kept = group.allReduceAsync(HostTensor.of(new long[] {1}), ReduceOp.SUM);
                        kept.completion().whenComplete((nothing, failure) -> group.allReduce(after, ReduceOp.SUM));
                        throw new IllegalStateException("of the test");
                    }));
            assertEquals(3L * size, after[0], "the call of a dependant has not run");
        });
    }

    @Test
    @Timeout(30)
    void aReductionThatAbortsTheGroupFailsItWithItsOwnReason() {
        for (int elements : new int[] {1, 100_000}) {
            List<Throwable> ends = onEveryRank(SHARED, 2, group -> {
                ReduceOp aborts = ReduceOp.of(
                        "aborts", (HostTensor left, HostTensor right) -> group.abort(new IOException("out of paper")));
                group.allReduce(new float[elements], aborts);
                group.barrier();
            });
            for (Throwable end : ends) {
                assertTrue(end instanceof FerroException, String.valueOf(end));
                assertTrue(end.getMessage().contains("out of paper"), end.getMessage());
                assertFalse(end.getMessage().contains("NullPointer"), end.getMessage());
            }
        }
    }

    /** It would wait for the block, which waits for it. */
    @ParameterizedTest
    @MethodSource("groups")
    void aReductionThatWaitsForItsOwnBlockIsRefused(Map<String, String> how, int size) {
        List<Throwable> ends = onEveryRank(how, size, group -> {
            List<Work> handles = new ArrayList<>();
            ReduceOp waits = ReduceOp.of("waits", (HostTensor left, HostTensor right) -> {
                handles.get(0).await();
            });
            group.coalesced(() -> handles.add(group.allReduceAsync(HostTensor.of(new float[3]), waits)));
        });
        for (Throwable end : ends) {
            assertEquals(size > 1, end != null, () -> "the block of " + size + " ranks ended with " + end);
            if (end != null) {
                assertTrue(end instanceof FerroException, String.valueOf(end));
            }
        }
        assertTrue(
                size == 1 || ends.stream().anyMatch(end -> end.getMessage().contains("await inside coalesced")),
                ends::toString);
    }

    private static List<float[]> data(int rank) {
        Random random = new Random(5 + rank);
        List<float[]> all = new ArrayList<>();
        for (int length : new int[] {1, 7, 100, 0, 3000, 9, 7000, 7000, 7000, 20_000, 3}) {
            float[] data = new float[length];
            for (int i = 0; i < length; i++) {
                data[i] = (float) random.nextGaussian() * (1 << random.nextInt(20));
            }
            all.add(data);
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("groups")
    void blocksHaveTheBitsOfSingleCalls(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.MAX, ReduceOp.AVG)) {
                List<float[]> alone = data(group.rank());
                List<float[]> together = data(group.rank());
                float[] sent = {group.rank()};
                alone.forEach(data -> group.allReduce(data, op));
                group.coalesced(() -> {
                    together.forEach(data -> group.allReduce(data, op));
                    group.broadcast(sent, size - 1);
                    group.barrier();
                });
                for (int i = 0; i < alone.size(); i++) {
                    assertArrayEquals(alone.get(i), together.get(i), op + " of call " + i);
                }
                assertEquals(size - 1, sent[0]);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("groups")
    void smallCallsOfOneTypeAndOpRunAsOneCall(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            long before = sequence(group);
            group.coalesced(() -> {
                for (int i = 0; i < 9; i++) {
                    group.allReduce(new int[] {i}, ReduceOp.SUM);
                }
            });
            assertEquals(before + 2, sequence(group));
        });
    }

    static long sequence(ProcessGroup group) {
        Work work = group.barrierAsync();
        work.await();
        return work.sequence();
    }

    @Test
    void differentBlocksAreAMismatch() {
        List<Throwable> ends = onEveryRank(
                SHARED,
                2,
                group -> group.coalesced(() -> {
                    group.allReduce(new float[group.rank() == 0 ? 10 : 20], ReduceOp.SUM);
                    group.allReduce(new float[group.rank() == 0 ? 20 : 10], ReduceOp.SUM);
                }));

        for (Throwable end : ends) {
            FerroException failure = (FerroException) end;
            assertEquals(Code.MISMATCH, failure.code());
            assertTrue(failure.getMessage().contains("coalesced of [10,20]"), failure.getMessage());
        }
    }

    @Test
    void noCallRunsBeforeTheEndOfItsBlock() {
        SimulatedBackend.run(2, LINKS, group -> {
            float[] data = {3};
            List<Work> handles = new ArrayList<>();
            group.coalesced(() -> {
                Work work = group.allReduceAsync(HostTensor.of(data), ReduceOp.SUM);
                handles.add(work);
                assertFalse(work.isDone());
                assertThrows(IllegalStateException.class, work::await);
                assertThrows(IllegalStateException.class, () -> group.split(0, 0));
                assertEquals(3, data[0]);
            });
            handles.get(0).await();
            assertEquals(6, data[0]);
        });
    }

    @Test
    void aBlockThatThrowsRunsNoneOfItsCalls() {
        SimulatedBackend.run(2, group -> {
            float[] data = {3};
            assertThrows(
                    ArithmeticException.class,
                    () -> group.coalesced(() -> {
                        group.allReduce(data, ReduceOp.SUM);
                        throw new ArithmeticException("planted");
                    }));
            assertEquals(3, data[0]);
            group.allReduce(data, ReduceOp.SUM);
            assertEquals(6, data[0]);
        });
    }

    @Test
    void callsOfABlockOnOverlappingMemoryAreRefused() {
        SimulatedBackend.run(2, group -> {
            float[] data = {3, 4};
            var told = assertThrows(
                    IllegalArgumentException.class,
                    () -> group.coalesced(() -> {
                        group.allReduce(data, ReduceOp.SUM);
                        group.allReduce(HostTensor.of(data).slice(1, 1), ReduceOp.SUM);
                    }));
            assertTrue(told.getMessage().contains("same memory"), told.getMessage());
        });
    }

    @ParameterizedTest
    @MethodSource("groups")
    void callsOfABlockKeepTheLabelsOfTheirViews(Map<String, String> how, int size) {
        List<Throwable> ends = onEveryRank(how, size, group -> {
            ProcessGroup weight = group.labelled("weight");
            for (int turn = 0; turn < 2; turn++) {
                ProcessGroup other = group.labelled(turn == 1 && group.rank() == 0 ? "bias" : "scale");
                long[] first = {3};
                long[] second = {5};
                group.coalesced(() -> {
                    weight.allReduce(first, ReduceOp.SUM);
                    other.allReduce(second, ReduceOp.SUM);
                });
                assertEquals(3L * size, first[0]);
                assertEquals(5L * size, second[0]);
            }
            // a rank that was ahead fails here
            group.barrier();
        });

        for (Throwable end : ends) {
            if (size == 1) {
                assertEquals(null, end);
            } else {
                FerroException failure = assertInstanceOf(FerroException.class, end);
                assertEquals(Code.MISMATCH, failure.code(), failure.toString());
                assertTrue(
                        failure.getMessage().contains("allReduce [\"weight\", \"scale\"] i64[2]"),
                        failure.getMessage());
                assertTrue(
                        failure.getMessage().contains("allReduce [\"weight\", \"bias\"] i64[2]"), failure.getMessage());
            }
        }
    }
}
