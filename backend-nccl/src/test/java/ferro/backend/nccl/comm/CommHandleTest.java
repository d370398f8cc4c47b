package ferro.backend.nccl.comm;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.nccl.Callers;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.NcclOperation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Who ends the use of a communicator, and what its end waits for. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class CommHandleTest {
    @Test
    @DisplayName("T10: a poll that was held up is waited for by abort and by destroy, beyond the grace of other uses")
    void pollsAreWaitedFor() throws Exception {
        Communicator aborted = Worlds.alone();
        Communicator destroyed = Worlds.alone();
        NativeLog.start();
        List<Thread> freeing = new ArrayList<>();
        for (Communicator comm : List.of(aborted, destroyed)) {
            assertTrue(comm.handle().enterPoll());
            freeing.add(Callers.daemon(() -> {
                if (comm == aborted) {
                    comm.abort("for the test");
                } else {
                    comm.handle().destroy();
                }
            }));
        }
        Deadline beyondTheGrace = Worlds.millis(400);
        while (!beyondTheGrace.passed()) {
            Thread.onSpinWait();
        }
        String early = StandInHooks.log();
        for (Communicator comm : List.of(aborted, destroyed)) {
            comm.handle().leavePoll();
        }
        for (Thread one : freeing) {
            one.join(10_000);
        }
        List<NativeLog.Line> lines = NativeLog.stop();
        assertFalse(early.contains("ncclCommAbort") || early.contains("ncclCommDestroy"), early);
        NativeLog.assertFreed(lines, 1, 1);
        assertFalse(aborted.handle().enterPoll(), "there is nothing left to ask");
        aborted.close();
        destroyed.close();
    }

    @Test
    @DisplayName("1-35: a destroy that goes on in the background is a destroy")
    void aDestroyMayContinueInTheBackground() {
        Communicator comm = Worlds.alone();
        StandInHooks.standInFailNext("ncclCommDestroy", 0, NcclResult.IN_PROGRESS.code());
        comm.handle().destroy();
        comm.close();
        assertEquals(0, Nccl.ncclCommDestroy(comm.handle().address()), "the test does what the stand-in did not");
    }

    @Test
    @Tag("long")
    @DisplayName("T4: of a close and an abort at once exactly one ends the use, and who comes later hears of that one")
    void oneEndsTheUse() throws Exception {
        CommIdentity identity = new CommIdentity("none", 0, 1, 0);
        int rounds = 20_000;
        List<CommHandle> handles = Stream.generate(() -> new CommHandle(0, identity, System::nanoTime))
                .limit(rounds)
                .toList();
        boolean[] closed = new boolean[rounds];
        boolean[] aborted = new boolean[rounds];
        AtomicIntegerArray arrived = new AtomicIntegerArray(rounds);
        AtomicInteger last = new AtomicInteger(rounds - 1);
        int threads = 2;
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        Callers.manyAtOnce(threads, caller -> {
            for (int round = 0; round <= last.get(); round++) {
                if (caller == 0 && System.nanoTime() - until > 0) {
                    // on a busy machine each round takes slices of both cores; the other caller sees this when both
                    // have arrived
                    last.compareAndSet(rounds - 1, round);
                }
                meet(arrived, round, threads);
                // neither caller is always the quicker one
                if (round % threads == caller) {
                    closed[round] = handles.get(round).claimClose();
                } else {
                    handles.get(round).abort("for the test");
                    aborted[round] = handles.get(round).isAborted();
                }
            }
        });
        for (int round = 0; round <= last.get(); round++) {
            CommHandle handle = handles.get(round);
            assertTrue(closed[round] != aborted[round], "of close and abort both or neither in round " + round);
            assertEquals(closed[round], handle.isClosed(), "closed in round " + round);
            assertEquals(aborted[round], handle.isAborted(), "aborted in round " + round);
            assertSays(
                    handle.refusal(NcclOperation.ALL_REDUCE).getMessage(), closed[round] ? "closed" : "for the test");
        }
    }

    private static void meet(AtomicIntegerArray arrived, int round, int threads) {
        arrived.incrementAndGet(round);
        for (int look = 1; arrived.get(round) < threads; look++) {
            if (look % 1_000 == 0) {
                Thread.yield();
            }
        }
    }
}
