package ferro.backend.nccl.comm;

import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertFails;
import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.nccl.Callers;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.DeviceCall;
import ferro.backend.nccl.queue.DeviceThread;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.harness.OnThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Abort, close and failure of the core. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class CommunicatorTest {
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        StandInHooks.standInHang(0);
        for (AutoCloseable one : opened) {
            one.close();
        }
    }

    private <T extends AutoCloseable> T opened(T one) {
        opened.add(0, one);
        return one;
    }

    private Communicator alone() {
        return opened(Worlds.alone());
    }

    private DeviceFloats values(int device) {
        return opened(DeviceFloats.of(device, 3f, 5f));
    }

    /** Starts a sum that waits for ever, on another thread. */
    private CompletableFuture<Void> stuck(Communicator comm) {
        StandInHooks.standInHang(1);
        Communicator.NativeBatch sum =
                Worlds.sum(values(comm.handle().identity().device()), 0);
        DeviceCall<Void> call = comm.start(sum);
        return OnThread.run(() -> comm.await(call, NcclOperation.ALL_REDUCE, Worlds.plenty()));
    }

    @Test
    @DisplayName(
            "1-24 decision 11: an abort from another thread ends a call that is stuck, with ABORTED, and frees the communicator")
    void abortEndsAStuckCall() throws Exception {
        Communicator comm = alone();
        CompletableFuture<Void> end = stuck(comm);
        assertFalse(end.isDone());
        new NcclAbortHandle(comm.handle()).abort();
        assertFailed(Code.ABORTED, OnThread.outcome(end), "allReduce on group \"alone\" rank 0", "aborted");
        assertEquals(0, StandInHooks.standInLive("comm"));
    }

    @Test
    @DisplayName("1-25 1-27 1-35: one native abort however often it is called, and no destroy after it")
    void abortIsIdempotent() throws Exception {
        Communicator comm = alone();
        NcclAbortHandle handle = new NcclAbortHandle(comm.handle());
        assertFalse(handle.isAborted() || handle.isClosed() || handle.isDefunct());
        NativeLog.start();
        Callers.manyAtOnce(8, caller -> handle.abort());
        comm.close();
        handle.abort();
        NativeLog.assertFreed(NativeLog.stop(), 1, 0);
        assertTrue(handle.isAborted() && handle.isDefunct());
        assertFalse(handle.isClosed(), "an abort is no close");
        assertTrue(handle.abortFailure().isEmpty());
    }

    @Test
    @DisplayName("1-26: a native abort that fails is not tried again, nor followed by a destroy, and can be asked for")
    void aFailedAbortIsKept() {
        Communicator comm = alone();
        NcclAbortHandle handle = new NcclAbortHandle(comm.handle());
        StandInHooks.standInFailNext("ncclCommAbort", 0, 3);
        NativeLog.start();
        handle.abort();
        handle.abort();
        comm.close();
        List<NativeLog.Line> lines = NativeLog.stop();
        assertTrue(handle.isAborted());
        NativeLog.assertFreed(lines, 1, 0);
        NcclException failure = (NcclException) handle.abortFailure().orElseThrow();
        assertEquals(NcclResult.INTERNAL_ERROR, failure.result());
        assertEquals(0, Nccl.ncclCommAbort(comm.handle().address()), "the test clears up what the failure left");
    }

    @Test
    @DisplayName("1-27: a handle that outlives the close does nothing and knows the difference")
    void aStaleHandleIsHarmless() {
        Communicator comm = alone();
        NcclAbortHandle handle = new NcclAbortHandle(comm.handle());
        comm.close();
        NativeLog.start();
        handle.abort();
        assertEquals(List.of(), NativeLog.stop());
        assertTrue(handle.isClosed() && handle.isDefunct());
        assertFalse(handle.isAborted());
    }

    @Test
    @DisplayName("1-05: a null handle makes abort and close do nothing, and a call fails without one")
    void aNullHandleIsNothing() {
        DeviceThread thread = new DeviceThread("ferro-null-0-nccl", System::nanoTime);
        CommHandle none = new CommHandle(0, new CommIdentity("null", 0, 1, 0), System::nanoTime);
        Communicator comm = new Communicator(thread, List.of(none), false, System::nanoTime);
        DeviceFloats values = values(0);
        NativeLog.start();
        assertThrows(IllegalStateException.class, () -> comm.start(Worlds.sum(values, 0)));
        comm.close();
        none.abort("for the test");
        assertEquals(List.of(), NativeLog.nccl(NativeLog.stop()));
    }

    @Test
    @DisplayName(
            "1-20 1-35 2-22: close synchronises, finalizes, destroys, then frees its own stream, in this order, once")
    void closeKeepsItsOrder() {
        Communicator comm = alone();
        comm.makeStream(Worlds.plenty());
        NativeLog.start();
        comm.close();
        comm.close();
        List<String> order = NativeLog.stop().stream()
                .map(NativeLog.Line::function)
                .filter(List.of("cudaEventQuery", "ncclCommFinalize", "ncclCommDestroy", "cudaStreamDestroy")::contains)
                .distinct()
                .toList();
        assertEquals(List.of("cudaEventQuery", "ncclCommFinalize", "ncclCommDestroy", "cudaStreamDestroy"), order);
        assertTrue(comm.handle().isClosed());
    }

    @Test
    @DisplayName("1-35: a close that waits for a stuck stream becomes an abort within its bound")
    void aStuckCloseAborts() {
        Communicator comm = alone();
        CudaStream own = comm.makeStream(Worlds.plenty());
        StandInHooks.standInHang(1);
        comm.run(Worlds.unwatchedSum(values(0), own.handle()), Worlds.plenty());
        DeviceCall<Void> call = comm.start(new Communicator.NativeBatch(
                NcclOperation.SYNCHRONIZE, false, (member, handle) -> {}, new long[] {own.handle()}));
        NativeLog.start();
        comm.close(Duration.ofMillis(200));
        NativeLog.assertFreed(NativeLog.stop(), 1, 0);
        assertTrue(call.isEnded(), "nobody waits for a closed communicator");
        assertEquals(0, StandInHooks.standInLive("comm"));
    }

    @Test
    @DisplayName("1-35 T4: a finalize that is stuck inside NCCL is aborted from outside, and nothing is freed twice")
    void aCloseThatIsStuckInsideNcclAborts() throws Exception {
        Communicator comm = Worlds.factory().all("pair", new int[] {0, 1}, Worlds.plenty());
        try (CudaStream callers = CudaStream.create(0)) {
            StandInHooks.standInHang(1);
            long at = values(0).tensor().address();
            comm.run(
                    new Communicator.NativeBatch(
                            NcclOperation.ALL_REDUCE,
                            false,
                            (member, handle) -> {
                                if (member == 0) {
                                    ResultChecker.begun(
                                            Nccl.ncclAllReduce(at, at, 2, 7, 0, handle, callers.handle()),
                                            "ncclAllReduce");
                                }
                            },
                            null),
                    Worlds.plenty());
            NativeLog.start();
            comm.close(Duration.ofMillis(200));
            List<NativeLog.Line> lines = NativeLog.stop();
            long aborts = NativeLog.count(lines, "ncclCommAbort");
            assertTrue(aborts > 0, lines.toString());
            assertEquals(2, aborts + NativeLog.count(lines, "ncclCommDestroy"), lines.toString());
        }
        assertEquals(List.of(), Worlds.lingering("ferro-pair-"), "the abort brought the thread back");
    }

    @Test
    @DisplayName("T10: after an abort and after a close no call reaches NCCL")
    void nothingReachesNcclAfterTheEnd() {
        DeviceFloats values = values(0);
        Communicator aborted = alone();
        aborted.abort("for the test");
        Communicator closed = alone();
        closed.close();
        NativeLog.start();
        assertFails(Code.ABORTED, () -> aborted.start(Worlds.sum(values, 0)), "for the test");
        assertRefused(
                IllegalStateException.class, () -> closed.start(Worlds.sum(values, 0)), "the communicator is closed");
        assertEquals(List.of(), NativeLog.nccl(NativeLog.stop()));
    }

    @Test
    @DisplayName("T10: aborts that race with calls never let one use what is freed")
    void abortsRaceWithCalls() throws Exception {
        DeviceFloats values = values(0);
        for (int round = 0; round < 100; round++) {
            Communicator comm = Worlds.alone();
            Callers.manyAtOnce(3, caller -> {
                if (caller == 0) {
                    comm.abort("it is a race");
                    return;
                }
                try {
                    for (int i = 0; i < 20; i++) {
                        comm.run(Worlds.unwatchedSum(values, 0), Worlds.plenty());
                        comm.asyncFailure(NcclOperation.ALL_REDUCE);
                    }
                } catch (FerroException e) {
                    assertEquals(Code.ABORTED, e.code(), e.toString());
                }
            });
            comm.close();
        }
        assertEquals(0, StandInHooks.standInMisuse());
    }

    @Test
    @DisplayName("T10: an abort lets a call that is inside finish, but waits no longer than for one that is not stuck")
    void anAbortWaitsOnlyForCallsThatAreNotStuck() throws Exception {
        Communicator comm = alone();
        CommHandle handle = comm.handle();
        handle.enter(NcclOperation.ALL_REDUCE);
        NativeLog.start();
        Thread aborting = Callers.daemon(() -> handle.abort("for the test"));
        Deadline within = Worlds.millis(60);
        boolean early = false;
        while (!within.passed()) {
            early |= StandInHooks.log().contains("ncclCommAbort") && !within.passed();
        }
        assertFalse(early, "it went ahead of a call that was inside");
        aborting.join(10_000);
        assertFalse(aborting.isAlive(), "the call is stuck, and the abort is what ends it");
        assertEquals(1, NativeLog.count(NativeLog.stop(), "ncclCommAbort"));
        handle.leave();
    }

    @Test
    @DisplayName("decision 8 T1: however many threads call one communicator, one call at a time is inside of NCCL")
    void callsAreSerialised() throws Exception {
        Communicator comm = alone();
        DeviceFloats values = values(0);
        StandInHooks.standInCallDwell(500);
        Callers.manyAtOnce(16, caller -> comm.run(Worlds.unwatchedSum(values, 0), Worlds.plenty()));
        comm.synchronize(new long[] {0}, Worlds.plenty());
        assertEquals(1, StandInHooks.standInMaxEntries());
        assertArrayEquals(new float[] {3f, 5f}, values.read(), "a world of one is the identity");
    }

    @Test
    @DisplayName("T4: of 1,000 aborts that race with a close, each communicator is freed exactly once")
    @Tag("long")
    void abortAgainstClose() throws Exception {
        for (int round = 0; round < 1000; round++) {
            Communicator comm = Worlds.alone();
            NativeLog.start();
            Callers.manyAtOnce(2, caller -> {
                if (caller == 0) {
                    new NcclAbortHandle(comm.handle()).abort();
                } else {
                    comm.close();
                }
            });
            List<NativeLog.Line> lines = NativeLog.stop();
            NcclAbortHandle handle = new NcclAbortHandle(comm.handle());
            assertEquals(NativeLog.count(lines, "ncclCommAbort"), handle.isAborted() ? 1 : 0, lines::toString);
            assertEquals(NativeLog.count(lines, "ncclCommDestroy"), handle.isClosed() ? 1 : 0, lines::toString);
            assertTrue(handle.isAborted() != handle.isClosed(), "one of them ends the use, never both");
        }
        assertEquals(0, StandInHooks.standInLive("all"));
    }

    @Test
    @DisplayName("T13: 1,000 inits that fail, each at another point, leave no object and no thread")
    void failedInitsLeaveNothing() throws Exception {
        String[] steps = {"cudaSetDevice", "ncclCommInitRankConfig", "ncclCommGetAsyncError"};
        CommFactory factory = Worlds.factory();
        for (int round = 0; round < 1000; round++) {
            NcclUniqueId id = NcclUniqueId.made();
            StandInHooks.standInFailNext(steps[round % steps.length], 0, 2);
            assertRefused(
                    FerroException.class,
                    () -> factory.rank(new CommIdentity("failing", 0, 1, 0), id, Worlds.plenty()),
                    "NCCL comm_init_rank failed");
        }
        assertEquals(0, StandInHooks.standInLive("all"));
        assertEquals(List.of(), Worlds.lingering("ferro-failing-"));
    }

    @Test
    @DisplayName("2-12: the first fatal failure is the cause of every later refusal, which reaches no native call")
    void aFatalFailureBreaksTheCommunicator() {
        Communicator comm = alone();
        DeviceFloats values = values(0);
        StandInHooks.standInFailNext("ncclAllReduce", 0, 3);
        NativeLog.start();
        NcclException first = assertRefused(
                NcclException.class, () -> comm.run(Worlds.sum(values, 0), Worlds.plenty()), "NCCL allreduce failed");
        FerroException later = assertFails(
                Code.NATIVE, () -> comm.start(Worlds.sum(values, 0)), "communicator broken by earlier error");
        assertSame(first, later.getCause());
        comm.close();
        List<NativeLog.Line> lines = NativeLog.stop();
        assertEquals(1, NativeLog.count(lines, "ncclAllReduce"), "only the first call reached NCCL");
        NativeLog.assertFreed(lines, 1, 0);
    }

    @Test
    @DisplayName("2-12: a bad argument is refused by NCCL before anything moves, and breaks nothing")
    void aBadArgumentBreaksNothing() {
        Communicator comm = alone();
        DeviceFloats values = values(0);
        StandInHooks.standInFailNext("ncclAllReduce", 0, 4);
        assertThrows(NcclException.class, () -> comm.run(Worlds.sum(values, 0), Worlds.plenty()));
        comm.run(Worlds.sum(values, 0), Worlds.plenty());
    }

    @Test
    void anAsynchronousFailureEndsAWaitingCall() throws Exception {
        Communicator comm = alone();
        CompletableFuture<Void> end = stuck(comm);
        StandInHooks.standInAsyncError(0, 6);
        NcclException failure = (NcclException) OnThread.outcome(end);
        assertEquals(NcclResult.REMOTE_ERROR, failure.result());
        assertTrue(failure.getMessage().contains("allReduce on group \"alone\" rank 0"), failure.getMessage());
        FerroException later = assertThrows(FerroException.class, () -> comm.start(Worlds.sum(values(0), 0)));
        assertSame(failure, later.getCause());
        assertTrue(comm.handle().isAborted());
    }

    @Test
    void anInterruptAbortsAndSetsTheInterruptFlag() throws Exception {
        Communicator comm = alone();
        StandInHooks.standInHang(1);
        Communicator.NativeBatch sum = Worlds.sum(values(0), 0);
        CompletableFuture<Boolean> isFlagSet = new CompletableFuture<>();
        Thread caller = Callers.daemon(() -> {
            assertFails(Code.INTERRUPTED, () -> comm.run(sum, Worlds.plenty()));
            isFlagSet.complete(Thread.currentThread().isInterrupted());
        });
        caller.interrupt();
        assertTrue(isFlagSet.get(10, TimeUnit.SECONDS), "flag lost");
        assertTrue(comm.handle().isAborted());
    }

    @Test
    void callsInsideAGroupRunAtOnceBeforeItEnds() {
        Communicator comm = alone();
        DeviceFloats first = values(0);
        DeviceFloats second = values(0);
        NativeLog.start();
        comm.run(
                new Communicator.NativeBatch(
                        NcclOperation.GROUP,
                        true,
                        (member, handle) -> {
                            comm.run(Worlds.unwatchedSum(first, 0), Worlds.plenty());
                            comm.run(Worlds.unwatchedSum(second, 0), Worlds.plenty());
                        },
                        new long[] {0}),
                Worlds.plenty());
        List<String> calls = NativeLog.nccl(NativeLog.stop()).stream()
                .filter(name -> !name.equals("ncclCommGetAsyncError"))
                .toList();
        assertEquals(List.of("ncclGroupStart", "ncclAllReduce", "ncclAllReduce", "ncclGroupEnd"), calls);
    }
}
