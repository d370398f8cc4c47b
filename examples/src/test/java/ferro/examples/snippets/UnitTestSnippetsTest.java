package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.simulated.Fault;
import ferro.backend.simulated.SimulatedBackend;
import ferro.backend.simulated.Simulation;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The examples on the page docs/guide/unit-tests.md that are no whole class. */
class UnitTestSnippetsTest {
    @Test
    void theFirstFailureIsThrown() {
        // @start region="failure"
        AssertionError error = assertThrows(
                AssertionError.class,
                () -> SimulatedBackend.run(3, group -> {
                    group.barrier();
                    if (group.rank() == 1) {
                        throw new IllegalStateException("no data");
                    }
                    group.barrier(); // fails on ranks 0 and 2, because rank 1 has failed
                }));
        assertEquals("rank 1 of 3 failed first: java.lang.IllegalStateException: no data", error.getMessage());
        // @end
    }

    @Test
    void aRankKilledDuringACallIsBlamed() {
        // @start region="middle"
        CountDownLatch failed = new CountDownLatch(1);
        SimulatedBackend.run(3, group -> {
            if (group.rank() == 2) {
                SimulatedBackend.of(group).kill(1); // rank 1 waits in its call, or begins it just now
                failed.await();
                return;
            }
            FerroException failure = assertThrows(FerroException.class, () -> mean(group, 7));
            if (group.rank() == 0) {
                assertEquals(Code.PEER_LOST, failure.code());
                assertEquals(Set.of(1), failure.where().culprits());
                failed.countDown();
            }
        });
        // @end
    }

    private static double mean(ProcessGroup group, double... own) {
        double[] totals = {own.length, Arrays.stream(own).sum()};
        group.allReduce(totals, ReduceOp.SUM);
        return totals[1] / totals[0];
    }

    @Test
    void aMissingRankIsNamedAtTheDeadline() {
        // @start region="deadline"
        CountDownLatch failed = new CountDownLatch(1);
        SimulatedBackend.run(2, group -> {
            if (group.rank() == 1) {
                failed.await(); // rank 1 makes no call
                return;
            }
            ProcessGroup impatient = group.within(Duration.ofSeconds(1));
            FerroException failure = assertThrows(FerroException.class, impatient::barrier);
            assertEquals(Code.TIMED_OUT, failure.code());
            assertEquals(Set.of(1), failure.where().culprits());
            failed.countDown();
        });
        // @end
    }

    @Test
    void allRanksGetAShorterTimeout() {
        // @start region="settings"
        SimulatedBackend.run(3, Map.of("ferro.timeout", "20s"), group -> group.barrier());
        // @end
    }

    @Test
    void anInterruptEndsTheGroup() {
        // @start region="interrupt"
        SimulatedBackend.run(2, group -> {
            if (group.rank() == 1) {
                Thread.currentThread().interrupt();
                FerroException failure = assertThrows(FerroException.class, group::barrier);
                assertEquals(Code.INTERRUPTED, failure.code());
            } else {
                FerroException failure = assertThrows(FerroException.class, () -> group.recv(new int[1], 1, 0));
                assertEquals(Code.ABORTED, failure.code());
                assertEquals(Set.of(1), failure.where().culprits());
            }
        });
        // @end
    }

    @Test
    void ranksOfOneTestMayRunOnItsOwnThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            // @start region="createGroup"
            List<Future<Integer>> sums = new ArrayList<>();
            for (SimulatedBackend backend : SimulatedBackend.createGroup(2)) {
                sums.add(threads.submit(() -> {
                    try (ProcessGroup group = ProcessGroup.of(backend)) {
                        int[] sum = {group.rank() + 3};
                        group.allReduce(sum, ReduceOp.SUM);
                        return sum[0];
                    }
                }));
            }
            assertEquals(7, sums.get(0).get());
            // @end
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void finishedRanksHaveTheSumIfARankCrashesAtAnyStep() {
        // @start region="seeds"
        Simulation.seeds(100).forEach(seed -> {
            int[][] data = {{3}, {4}, {5}};
            List<Integer> finished = new ArrayList<>();
            Simulation.of(3, seed)
                    .faults(List.of(new Fault.Crash(seed, 2))) // rank 2 crashes before step 1, 2, ... 100
                    .onEveryRank(group -> group.allReduceAsync(data[group.rank()], ReduceOp.SUM)
                            .completion()
                            .thenRun(() -> finished.add(group.rank())))
                    .check(() -> finished.forEach(rank -> assertArrayEquals(new int[] {12}, data[rank])))
                    .run();
        });
        // @end
    }
}
