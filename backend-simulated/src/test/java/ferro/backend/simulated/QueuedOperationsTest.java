package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Operations that are under way together over links: what they must not do to one another. */
@Timeout(60)
class QueuedOperationsTest {
    private static final Map<String, String> LINKS = Map.of("ferro.links", "tcp");

    /** Rank 1 does its part of the first call and closes; rank 2 is slow; rank 0 has queued one call too many. */
    @Test
    void aMissingRankInALaterCallDoesNotFailTheFirst() {
        CountDownLatch called = new CountDownLatch(4);
        SimulatedBackend.run(4, LINKS, group -> {
            long[] first = {group.rank() + 3};
            long[] second = {7};
            ReduceOp slow = ReduceOp.of("slow", (into, received) -> {
                if (group.rank() == 2) {
                    pause(TimeUnit.MILLISECONDS.toNanos(400));
                }
                into.setLong(0, into.getLong(0) + received.getLong(0));
            });
            Work one = group.submit(Collective.reduce(HostTensor.of(first), slow, 0));
            Work two = group.rank() == 0 ? group.allReduceAsync(HostTensor.of(second), ReduceOp.SUM) : null;
            called.countDown();
            assertTrue(called.await(10, TimeUnit.SECONDS), "not all ranks have called");
            if (group.rank() > 1) {
                endsUnlessTheSecondFailsBefore(one);
                return;
            }
            one.await();
            if (group.rank() == 1) {
                group.close();
            } else if (group.rank() == 0) {
                assertEquals(3 + 4 + 5 + 6, first[0]);
                FerroException told = assertThrows(FerroException.class, two::await);
                assertEquals(Code.PEER_LOST, told.code(), told.toString());
                assertAreLeavers(told);
                assertEquals(2, told.where().sequence(), told.toString());
            }
        });
    }

    /** Checks the culprits: rank 1, and ranks 2 and 3 if they have left soon after it. */
    private static void assertAreLeavers(FerroException failure) {
        Set<Integer> culprits = failure.where().culprits();
        assertTrue(culprits.contains(1) && Set.of(1, 2, 3).containsAll(culprits), failure.toString());
    }

    /** Rank 0 fails the group as soon as its first call has ended, which may be before this rank has seen that its own has. */
    private static void endsUnlessTheSecondFailsBefore(Work first) {
        try {
            first.await();
        } catch (FerroException told) {
            // in the words of who asked rank 0, or in its own
            String words = told.getMessage();
            assertAreLeavers(told);
            assertTrue(
                    words.contains("while rank 0 is in allReduce i64[1] sum")
                            || words.contains("this call is seq 2 (allReduce i64[1] sum"),
                    words);
        }
    }

    /** Whatever wakes the thread meanwhile. */
    private static void pause(long nanos) {
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() - until < 0) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }
}
