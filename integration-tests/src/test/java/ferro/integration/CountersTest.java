package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallCounters;
import ferro.CallCounters.Totals;
import ferro.CollectiveKind;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters of groups over real links; rule 331 of the contract kit checks the numbers of each kind. */
@Timeout(120)
class CountersTest {
    private static final int CALLS = 100;
    private static final int ELEMENTS = 10_000;
    /** Time that the code of a slow reduction takes for one element. */
    private static final long SLOW_NANOS = 2_000_000;

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void theTimeOfBlockingCallsIsTheTimeThatTheThreadSpendsInThem(String medium) {
        Ranks.each(medium, 2, group -> {
            float[] data = new float[ELEMENTS];
            // the time of a call does not include the plan that the first call makes
            group.allReduce(data, ReduceOp.MAX);
            CallCounters before = group.counters();
            long spent = 0;
            for (int call = 0; call < CALLS; call++) {
                long begun = System.nanoTime();
                group.allReduce(data, ReduceOp.MAX);
                spent += System.nanoTime() - begun;
            }
            Totals found = group.counters().minus(before).of(CollectiveKind.ALL_REDUCE);
            long counted = found.time().toNanos();
            assertEquals(CALLS, found.calls());
            assertEquals(4L * CALLS * ELEMENTS, found.bytes());
            assertTrue(counted <= spent && counted > spent / 3, counted + " of " + spent + " ns counted");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    // @start region="media"
    void theTimeOfASmallCallIncludesItsReduction(String medium) {
        Ranks.each(medium, 2, group -> {
            AtomicLong inCode = new AtomicLong();
            ReduceOp slow = ReduceOp.ofLongs("slow sum", (first, second) -> slowSum(first, second, inCode));
            for (int call = 0; call < 10; call++) {
                group.allReduce(new long[] {group.rank() + 2}, slow);
            }
            long counted = group.counters().of(CollectiveKind.ALL_REDUCE).time().toNanos();
            assertTrue(inCode.get() >= 10 * SLOW_NANOS, inCode + " ns in the code of the reduction");
            assertTrue(counted >= inCode.get(), counted + " ns counted, " + inCode + " ns in the code");
        });
    }
    // @end

    @Test
    void veryShortCallsHaveTheirTimesByKind() {
        Ranks.each("shm", 2, group -> {
            long[] sum = {1};
            group.allReduce(sum, ReduceOp.MAX);
            CallCounters before = group.counters();
            long begun = System.nanoTime();
            for (int call = 0; call < 32 * CALLS; call++) {
                group.barrier();
                group.allReduce(sum, ReduceOp.MAX);
            }
            long spent = System.nanoTime() - begun;
            CallCounters found = group.counters().minus(before);
            long barriers = found.of(CollectiveKind.BARRIER).time().toNanos();
            long sums = found.of(CollectiveKind.ALL_REDUCE).time().toNanos();
            assertTrue(barriers > 0 && sums > 0, barriers + " and " + sums + " ns counted");
            assertTrue(barriers + sums < 2 * spent, barriers + " and " + sums + " of " + spent + " ns counted");
        });
    }

    private static long slowSum(long first, long second, AtomicLong inCode) {
        long begun = System.nanoTime();
        long spent = 0;
        while (spent < SLOW_NANOS) {
            Thread.onSpinWait();
            spent = System.nanoTime() - begun;
        }
        inCode.addAndGet(spent);
        return first + second;
    }

    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void callsInFlightAreCountedWhenTheyEnd(String medium) {
        CountDownLatch checked = new CountDownLatch(1);
        Ranks.each(medium, 2, group -> {
            if (group.rank() == 1) {
                assertTrue(checked.await(60, TimeUnit.SECONDS), "rank 0 has not read its counters");
            }
            List<Work> queued = new ArrayList<>();
            for (int call = 0; call < CALLS; call++) {
                queued.add(group.allReduceAsync(HostTensor.of(new long[8]), ReduceOp.SUM));
            }
            if (group.rank() == 0) {
                CallCounters inFlight = group.counters();
                checked.countDown();
                assertEquals(CallCounters.NONE, inFlight, "counters while rank 1 has made no call");
            }
            for (int call = 0; call < CALLS; call++) {
                queued.get(call).await();
                long calls = group.counters().of(CollectiveKind.ALL_REDUCE).calls();
                assertTrue(calls > call, calls + " calls after the end of call " + call);
            }
            assertEquals(
                    64L * CALLS, group.counters().of(CollectiveKind.ALL_REDUCE).bytes());
            assertEquals(CALLS, group.counters().all().calls());
        });
    }

    @Test
    void callsThatFerroMakesWhileJoiningAreNotCounted() {
        Ranks.each(Medium.SHM, 2, Map.of("ferro.recorder.entries", "0"), group -> {
            assertEquals(CallCounters.NONE, group.counters());
            group.barrier();
            assertEquals(1, group.counters().of(CollectiveKind.BARRIER).calls());
        });
    }

    @Test
    void aSplitIsCountedAsOneAllGather() {
        Ranks.each(Medium.SIMULATED, 2, group -> {
            group.split(0, group.rank()).orElseThrow().close();
            assertEquals(1, group.counters().all().calls());
            assertEquals(8, group.counters().of(CollectiveKind.ALL_GATHER).bytes());
        });
    }
}
