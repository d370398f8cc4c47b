package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertFails;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How a group ends that does not end well; what the ranks tell one another stands in the store. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclFailureTest {
    private static final float SENTINEL = -77;

    private static Collective call(String kind, float[] data) {
        HostTensor tensor = HostTensor.of(data);
        HostTensor half = HostTensor.of(new float[1]);
        return switch (kind) {
            case "allReduce" -> Collective.allReduce(tensor, ReduceOp.SUM);
            case "broadcast" -> Collective.broadcast(tensor, 0);
            case "reduce" -> Collective.reduce(tensor, ReduceOp.SUM, 0);
            case "allGather" -> Collective.allGather(half, tensor);
            case "reduceScatter" -> Collective.reduceScatter(tensor, half, ReduceOp.SUM);
            case "gather" -> Collective.gather(half, tensor, 0);
            case "scatter" -> Collective.scatter(tensor, half, 0);
            case "allToAll" -> Collective.allToAll(tensor, HostTensor.of(new float[2]));
            default -> Collective.barrier();
        };
    }

    private static FerroException failure(List<Throwable> outcomes, int rank, Code code) {
        FerroException failure = assertFailed(code, outcomes.get(rank));
        assertEquals(rank, failure.where().rank(), failure.toString());
        return failure;
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "allReduce,ncclAllReduce,NCCL allreduce failed",
        "broadcast,ncclBroadcast,NCCL broadcast failed",
        "reduce,ncclReduce,NCCL reduce failed",
        "allGather,ncclAllGather,NCCL all_gather failed",
        "reduceScatter,ncclReduceScatter,NCCL reduce_scatter failed",
        "gather,ncclGather,NCCL gather failed",
        "scatter,ncclScatter,NCCL scatter failed",
        "allToAll,ncclAlltoAll,NCCL all_to_all failed",
        "barrier,ncclAllReduce,NCCL barrier (allreduce) failed"
    })
    @DisplayName(
            "2-14 2-21 3-34: a native failure is an exception that begins with what failed, never the end of the process")
    void nativeFailuresNameTheOperation(String kind, String function, String prefix) {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            StandInHooks.standInFailNext(function, 0, 3);
            List<Throwable> outcomes = ranks.outcomes(rank -> rank.run(call(kind, new float[] {4, 7}), SOON));
            int failed = outcomes.get(0) instanceof NcclException ? 0 : 1;
            NcclException first = assertInstanceOf(NcclException.class, outcomes.get(failed));
            assertEquals(NcclResult.INTERNAL_ERROR, first.result());
            assertEquals(Code.NATIVE, first.code());
            assertSays(first, prefix, function, "ncclInternalError (3)", "group \"ranks\" rank " + failed, "seq 1");
            FerroException other = failure(outcomes, 1 - failed, Code.NATIVE);
            assertEquals(Set.of(failed), other.where().culprits());
            assertSays(other, prefix, "rank " + failed + " ended the group");
        }
    }

    @Test
    @DisplayName(
            "2-12 T10: after a fatal failure every call fails at once with the first one as its cause, and makes no native call")
    void laterCallsFailAtOnceWithTheFirstFailure() {
        try (NcclRanks ranks = NcclRanks.of(1)) {
            JnaNcclBackend rank = ranks.rank(0);
            StandInHooks.standInFailNext("ncclAllReduce", 0, 5);
            FerroException first =
                    assertThrows(FerroException.class, () -> rank.run(call("allReduce", new float[] {4, 7}), SOON));
            rank.abort(first);
            NativeLog.start();
            FerroException later = assertThrows(FerroException.class, () -> rank.barrier(SOON));
            FerroException raw = assertThrows(FerroException.class, () -> rank.synchronize(0));
            assertEquals(List.of(), NativeLog.stop());
            for (FerroException one : List.of(later, raw)) {
                assertEquals(Code.NATIVE, one.code());
                assertSays(one, "communicator broken by earlier error", "NCCL allreduce failed", "join again");
                assertInstanceOf(NcclException.class, one.getCause());
            }
            assertInstanceOf(NcclException.class, first);
        }
    }

    @Test
    @DisplayName(
            "1-32: what NCCL only tells when it is asked ends a stuck call, with its code, long before the deadline")
    void anAsynchronousErrorEndsAStuckCall() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            CountDownLatch pending = new CountDownLatch(1);
            NativeLog.start();
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                if (rank.rank() == 1) {
                    assertTrue(pending.await(10, TimeUnit.SECONDS));
                    StandInHooks.standInAsyncError(0, 6);
                    return;
                }
                Work stuck = rank.submit(call("allReduce", new float[] {4, 7}), Duration.ofSeconds(20));
                // before its device thread has begun, it would not be the call that the error ends
                NativeLog.await("ncclAllReduce");
                pending.countDown();
                stuck.await();
            });
            NativeLog.stop();
            NcclException failure = assertInstanceOf(NcclException.class, outcomes.get(0));
            assertEquals(NcclResult.REMOTE_ERROR, failure.result());
            assertSays(failure, "ncclRemoteError (6)", "NCCL allreduce failed");
        }
    }

    @Test
    @DisplayName("1-32: a rank that hears from NCCL that somebody has gone is not blamed for it by the others")
    void aRankThatDetectsALossIsNotBlamed() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            NativeLog.start();
            List<Throwable> outcomes = ranks.whileOthersWait(2, () -> call("allReduce", new float[] {4, 7}), rank -> {
                NativeLog.await("ncclAllReduce|0");
                StandInHooks.standInAsyncError(communicatorOfRankZero(), 6);
            });
            NativeLog.stop();
            FerroException other = failure(outcomes, 1, Code.NATIVE);
            assertEquals(Set.of(), other.where().culprits(), other.toString());
            assertSays(other, "ncclRemoteError (6)", "rank 1");
        }
    }

    /** By what ncclAllReduce was called with, as no call of ours tells. */
    private static long communicatorOfRankZero() {
        String call = StandInHooks.log()
                .lines()
                .filter(line -> line.startsWith("ncclAllReduce|0|"))
                .findFirst()
                .orElseThrow();
        return Long.decode(NativeLog.Line.of(call).arguments().get(5));
    }

    @Test
    @DisplayName("1-32: what NCCL only tells when it is asked is seen while only raw calls are under way, and aborts")
    void anAsynchronousErrorOfARawCallIsDetected() {
        // the raw call uses the memory until the communicator is gone
        try (DeviceFloats data = DeviceFloats.of(0, 4);
                NcclRanks ranks = NcclRanks.of(2)) {
            JnaNcclBackend rank = ranks.rank(0);
            long at = data.tensor().address();
            rank.allReduce(at, at, new RawShape(1, DataType.FLOAT32), ReduceOp.SUM, rank.stream());
            NativeLog.start();
            StandInHooks.standInAsyncError(0, 6);
            NativeLog.await("ncclCommAbort");
            assertEquals(1, NativeLog.count(NativeLog.stop(), "ncclCommAbort"));
            FerroException later = assertThrows(FerroException.class, () -> rank.synchronize(rank.stream()));
            assertSays(later, "ncclRemoteError (6)", "NCCL allreduce failed", "broken by earlier error");
        }
    }

    @Test
    @DisplayName(
            "row 4, row 18: 2-32 a call past its deadline is TIMED_OUT on every rank that waits, naming operation, number and who is missing")
    void aTimeOutNamesTheMissingRank() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            long start = System.nanoTime();
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                rank.barrier(SOON);
                if (rank.rank() != 1) {
                    float[] data = {SENTINEL, SENTINEL};
                    try {
                        rank.run(call("allReduce", data), Duration.ofMillis(600));
                    } finally {
                        assertArrayEquals(new float[] {SENTINEL, SENTINEL}, data);
                    }
                }
            });
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(10));
            for (int rank : new int[] {0, 2}) {
                FerroException failure = failure(outcomes, rank, Code.TIMED_OUT);
                assertEquals(Set.of(1), failure.where().culprits(), failure.toString());
                assertEquals(2, failure.where().sequence());
                assertEquals("allReduce", failure.where().operation());
                assertTrue(
                        failure.getMessage().matches(".*gave up on rank 1 after ([6-9]|[1-9]\\d)\\d\\d ms.*"),
                        failure.toString());
                assertSays(failure, "rank 1 has not made this call", "seq 2");
            }
        }
    }

    @Test
    @DisplayName(
            "1-24: an interrupt of a waiting thread ends the group, with the flag set again, and the others learn who it was")
    void anInterruptEndsTheGroup() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            Thread[] waiting = new Thread[1];
            CountDownLatch pending = new CountDownLatch(1);
            CountDownLatch interrupted = new CountDownLatch(1);
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                if (rank.rank() == 0) {
                    waiting[0] = Thread.currentThread();
                    Work stuck = rank.submit(call("barrier", new float[2]), SOON);
                    Work other = rank.submit(call("barrier", new float[2]), SOON);
                    pending.countDown();
                    FerroException failure = assertFails(Code.INTERRUPTED, stuck::await);
                    assertTrue(Thread.interrupted(), "flag");
                    assertFails(Code.ABORTED, other::await);
                    interrupted.countDown();
                    throw failure;
                }
                assertTrue(pending.await(10, TimeUnit.SECONDS));
                waiting[0].interrupt();
                assertTrue(interrupted.await(10, TimeUnit.SECONDS));
                rank.run(call("allReduce", new float[2]), SOON);
            });
            failure(outcomes, 0, Code.INTERRUPTED);
            assertEquals(Set.of(0), failure(outcomes, 1, Code.ABORTED).where().culprits());
        }
    }

    @Test
    @DisplayName(
            "row 28: 1-24 1-25 abort ends pending and later calls of all ranks with its first cause, from any thread, twice is once")
    void abortEndsAllRanks() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            IllegalStateException cause = new IllegalStateException("out of paper");
            NativeLog.start();
            List<Throwable> outcomes = ranks.whileOthersWait(1, Collective::barrier, rank -> {
                rank.abort(cause);
                rank.abort(new IllegalStateException("out of ink"));
                rank.barrier(SOON);
            });
            // a call that had not begun fails before the watchdog of its rank aborts
            NativeLog.await("ncclCommAbort", 2);
            assertEquals(2, NativeLog.count(NativeLog.stop(), "ncclCommAbort"), "one on each rank");
            FerroException own = failure(outcomes, 1, Code.ABORTED);
            assertSays(own, "out of paper");
            assertSame(cause, own.getCause().getCause());
            FerroException other = failure(outcomes, 0, Code.ABORTED);
            assertSays(other, "out of paper");
            assertEquals(Set.of(1), other.where().culprits());
        }
    }

    @Test
    @DisplayName("row 17: 1-32 ranks that are stuck in different calls both learn both")
    void ranksInDifferentCallsReceiveBothCalls() {
        StandInHooks.standInMismatchHangs(1);
        try (NcclRanks ranks = NcclRanks.of(2)) {
            List<Throwable> outcomes = ranks.outcomes(rank ->
                    rank.run(call(rank.rank() == 0 ? "allReduce" : "broadcast", new float[3 + rank.rank()]), SOON));
            for (int rank = 0; rank < 2; rank++) {
                FerroException failure = failure(outcomes, rank, Code.MISMATCH);
                assertSays(failure, "allReduce of f32[3] by sum", "broadcast of f32[4], root 0");
            }
        }
    }

    @Test
    @DisplayName("3-34: what an abort has cut off is no success while its cause is still looked for")
    void whatIsCutOffNeverEndsWell() {
        StandInHooks.standInRemoteErrors(1);
        try (NcclRanks ranks = NcclRanks.of(2)) {
            List<Throwable> outcomes = ranks.whileOthersWait(
                    0,
                    () -> call("allReduce", new float[] {3, 5}),
                    rank -> rank.abort(new IllegalStateException("out of paper")));
            FerroException failure = failure(outcomes, 1, Code.ABORTED);
            assertEquals(Set.of(0), failure.where().culprits(), failure.toString());
            assertSays(failure, "allReduce on group", "out of paper");
        }
    }

    @Test
    @DisplayName(
            "row 29: 2-22 close with work that can never end keeps its bound, fails that work and frees everything")
    void closeOfAStuckGroupIsBounded() {
        NcclRanks ranks = NcclRanks.of(2);
        Work never = ranks.rank(0).submit(call("barrier", new float[2]), Duration.ofSeconds(60));
        long start = System.nanoTime();
        ranks.rank(0).close(Duration.ofMillis(200));
        assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(8));
        FerroException failure = assertFails(Code.ABORTED, never::await);
        assertSays(failure, "closed the group");
        assertNotNull(failure.where());
        ranks.close();
    }
}
