package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.backend.nccl.comm.NcclRanks.sum;
import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.LocalStore;
import ferro.backend.nccl.queue.PairedHostMonitor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.control.failure.Failure;
import ferro.harness.OnThread;
import ferro.harness.Processes;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two halves of one group, as {@code cpu:tcp,cuda:nccl} has them: a failure of either is that of both, on all ranks. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class PairTest {
    private static final int SIZE = 3;

    private List<SimulatedBackend> hosts;
    private NcclRanks devices;

    @BeforeEach
    void join() {
        hosts = SimulatedBackend.createGroup(SIZE);
        devices = NcclRanks.named("simulated", new LocalStore(), SIZE, Duration.ofSeconds(20));
        for (int rank = 0; rank < SIZE; rank++) {
            devices.rank(rank).controlledBy(hosts.get(rank));
        }
    }

    @AfterEach
    void close() {
        devices.close();
        hosts.forEach(PairTest::closeFailed);
    }

    /** A host's half that has made no call says a mismatch of the device's half again. */
    private static void closeFailed(CollectiveBackend host) {
        try {
            host.close();
        } catch (FerroException again) {
            assertEquals(Code.MISMATCH, again.code(), again.toString());
        }
    }

    private static String story(FerroException failure) {
        return failure.code() + " of "
                + failure.where().culprits().stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** Both halves of all ranks tell one story, by {@code failure()} and to the next call. */
    private void allTell(String story) {
        for (int rank = 0; rank < SIZE; rank++) {
            for (CollectiveBackend half : List.of(devices.rank(rank), hosts.get(rank))) {
                Processes.await(() -> half.failure().isPresent(), SOON, half + " works");
                String who = half + " of rank " + rank;
                assertEquals(story, story(half.failure().orElseThrow()), who);
                FerroException later = assertThrows(FerroException.class, () -> half.barrier(SOON), who);
                assertEquals(story, story(later), who + ": " + later);
            }
        }
    }

    @Test
    @DisplayName(
            "row 4: past the deadline of a call on the device both halves fail with the rank that has not called, on that"
                    + " rank too")
    void aTimeoutOnTheDeviceFailsTheHostBackendToo() {
        List<Throwable> outcomes = devices.outcomes(rank -> {
            if (rank.rank() != 1) {
                rank.run(sum(4, 7), Duration.ofMillis(600));
            }
        });

        for (int rank : new int[] {0, 2}) {
            assertEquals("TIMED_OUT of 1", story(assertInstanceOf(FerroException.class, outcomes.get(rank))));
        }
        allTell("TIMED_OUT of 1");
    }

    @Test
    @DisplayName(
            "row 4: a rank that is in a call on the device but does not answer the host's half is named at the deadline,"
                    + " beside those that have not called")
    void aSilentRankInADeviceCallIsNamed() {
        assertEquals("TIMED_OUT of 1,2", beside(sum(4, 7)));
    }

    @Test
    @DisplayName("row 4: a rank that does not answer is named beside the root of a broadcast, which has not called")
    void aSilentRankInABroadcastIsNamed() {
        assertEquals("TIMED_OUT of 1,2", beside(Collective.broadcast(sum(4, 7).operand(), 2)));
    }

    /** Ranks 0 and 1 make a call, rank 1 with a long timeout; rank 2 makes none. Returns the failure of rank 0. */
    private String beside(Collective call) {
        devices.mute(1, true);
        devices.rank(1).submit(call, Duration.ofSeconds(60));
        Throwable outcome = OnThread.outcome(() -> devices.rank(0).run(call, Duration.ofMillis(900)));
        FerroException failure = assertFailed(Code.TIMED_OUT, outcome, "rank 1 does not answer");
        devices.mute(1, false);
        return story(failure);
    }

    @Test
    @DisplayName("row 28: abort of the host's half from any thread ends what is pending on the device, on all ranks")
    void anAbortOfTheHostBackendEndsDeviceCalls() {
        List<Throwable> outcomes = devices.whileOthersWait(
                2, () -> sum(4, 7), rank -> hosts.get(2).abort(new IllegalStateException("out of paper")));

        for (int rank = 0; rank < 2; rank++) {
            FerroException failure = assertInstanceOf(FerroException.class, outcomes.get(rank));
            assertEquals("ABORTED of 2", story(failure), failure.toString());
            assertTrue(failure.getMessage().contains("out of paper"), failure.toString());
        }
        allTell("ABORTED of 2");
    }

    @Test
    @DisplayName(
            "an abort changes nothing once the host's half knows a failure of which the device's has not heard yet")
    void anAbortAfterAHostFailureChangesNothing() {
        FerroException late =
                new FerroException(Code.TIMED_OUT, Where.of("simulated", 0).blaming(1), "rank 1 is late");
        hosts.get(0).abort(late);

        Failure own = new Failure(Code.ABORTED, 0, -1, Set.of(0), "aborted by rank 0", null);
        Failure judged = new PairedHostMonitor(hosts.get(0)).judged(own);
        hosts.get(0).abort(new IllegalStateException("cannot go on"));
        devices.rank(0).abort(new IllegalStateException("cannot go on"));

        assertEquals("TIMED_OUT of [1]", judged.code() + " of " + judged.culprits());
        allTell("TIMED_OUT of 1");
    }

    @Test
    @DisplayName("a native failure of one rank is NATIVE of that rank on all, also where nobody has called anything")
    void aNativeFailureReachesAllRanksWithItsRank() {
        StandInHooks.standInFailNext("ncclAllReduce", 0, 3);

        Throwable outcome = devices.outcomes(rank -> {
                    if (rank.rank() == 1) {
                        rank.run(sum(4, 7), SOON);
                    }
                })
                .get(1);

        assertEquals("NATIVE of 1", story(assertInstanceOf(NcclException.class, outcome)));
        allTell("NATIVE of 1");
        assertSays(hosts.get(0).failure().orElseThrow().getMessage(), "ncclInternalError", "seq 1");
    }

    @Test
    @DisplayName("row 1: what NCCL sees as somebody's death waits for the name that the control plane has")
    void theLostRankIsNamedByTheControlPlane() {
        CountDownLatch pending = new CountDownLatch(2);
        List<Throwable> outcomes = devices.outcomes(rank -> {
            if (rank.rank() == 1) {
                assertTrue(pending.await(10, TimeUnit.SECONDS), "ranks 0 and 2 have not called");
                StandInHooks.standInAsyncError(0, 6);
                // as long as the exit of a process takes to be seen
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(120));
                Where here = Where.of("simulated", 0).blaming(1);
                hosts.get(0).abort(new FerroException(Code.PEER_LOST, here, "rank 1 has exited"));
            } else {
                Work stuck = rank.submit(sum(4, 7), Duration.ofSeconds(60));
                pending.countDown();
                stuck.await();
            }
        });

        for (int rank : new int[] {0, 2}) {
            FerroException failure = assertInstanceOf(FerroException.class, outcomes.get(rank));
            assertEquals("PEER_LOST of 1", story(failure), failure.toString());
        }
        allTell("PEER_LOST of 1");
    }

    @Test
    @DisplayName(
            "row 3: the death of a rank between calls ends the device's half too, whose next call fails at once, without"
                    + " a call of NCCL")
    void aDeathBetweenCallsFailsTheDeviceBackend() {
        devices.run(rank -> rank.run(sum(4, 7), SOON));
        NativeLog.start();
        Where here = Where.of("simulated", 0).blaming(1);
        hosts.get(0).abort(new FerroException(Code.PEER_LOST, here, "rank 1 has exited"));

        allTell("PEER_LOST of 1");

        assertEquals(0, NativeLog.count(NativeLog.stop(), "ncclAllReduce"));
    }

    @Test
    @DisplayName("a listener of the user that blocks does not keep a failure of the host's half from the device's")
    void aBlockingListenerDoesNotDelayTheFailure() {
        CountDownLatch never = new CountDownLatch(1);
        CollectiveBackend host = hosts.get(1);
        host.onEvent(event -> OnThread.outcome(OnThread.start(() -> never.await(9, TimeUnit.SECONDS))));
        devices.rank(1).controlledBy(host);
        long begun = System.nanoTime();

        hosts.get(0).abort(new IllegalStateException("out of paper"));
        allTell("ABORTED of 0");

        assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(6), "kept back by the listener");
        never.countDown();
    }

    @Test
    @DisplayName("culprits that make no sense name nobody, and keep neither failure nor event back")
    void invalidCulpritsBlameNoRank() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        devices.rank(0).onEvent(event -> told.countDown());
        Where here = Where.of("simulated", 0).blaming(1, -7);

        hosts.get(0).abort(new FerroException(Code.PEER_LOST, here, "rank 1 has exited"));

        assertTrue(told.await(10, TimeUnit.SECONDS), "no event");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "count,f32[2],f32[3]",
        "type,f32[2],i32[2]",
        "op,by sum,by max",
        "root,'root 0','root 1'",
        "kind,allReduce,broadcast"
    })
    @DisplayName(
            "row 13, row 14, row 15, row 16, row 17: calls on the device that differ end both halves on all ranks with"
                    + " MISMATCH, and both texts")
    void differentDeviceCallsFailBothBackends(String field, String usual, String odd) {
        StandInHooks.standInMismatchHangs(1);

        for (Throwable outcome : devices.outcomes(rank -> rank.run(differing(field, rank.rank() == 2), SOON))) {
            FerroException failure = assertFailed(Code.MISMATCH, outcome, usual, odd);
        }
        String agreed = story(hosts.get(0).failure().orElseThrow());
        assertTrue(agreed.startsWith("MISMATCH of ") && agreed.contains("2"), agreed);
    }

    @Test
    @DisplayName(
            "a call that NCCL lets succeed though it differs ends both halves on all ranks, the one that succeeded too")
    void aDifferentCallThatSucceedsFailsBothBackends() {
        StandInHooks.standInMismatchTruncates(1);

        List<Throwable> outcomes = devices.outcomes(rank -> rank.run(differing("count", rank.rank() == 2), SOON));

        for (int rank : new int[] {0, 1}) {
            assertEquals("MISMATCH of 2", story(assertInstanceOf(FerroException.class, outcomes.get(rank))));
        }
        allTell("MISMATCH of 2");
    }

    private static Collective differing(String field, boolean odd) {
        HostTensor floats = HostTensor.of(new float[odd && field.equals("count") ? 3 : 2]);
        HostTensor data = odd && field.equals("type") ? HostTensor.of(new int[2]) : floats;
        if (field.equals("root") || odd && field.equals("kind")) {
            return Collective.broadcast(data, odd ? 1 : 0);
        }
        return Collective.allReduce(data, odd && field.equals("op") ? ReduceOp.MAX : ReduceOp.SUM);
    }

    @Test
    @DisplayName(
            "row 29: close of the device's half with work that cannot end keeps its bound, and ends both halves of all")
    void aCloseWithWorkInFlightFailsBothBackends() {
        Work never = devices.rank(0).submit(sum(4, 7), Duration.ofSeconds(60));
        long begun = System.nanoTime();

        devices.rank(0).close(Duration.ofMillis(200));

        assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(8), "close takes as long as it likes");
        assertEquals("ABORTED of 0", story(assertThrows(FerroException.class, never::await)));
        assertEquals("ABORTED of 0", story(hosts.get(0).failure().orElseThrow()));
        FerroException elsewhere =
                assertThrows(FerroException.class, () -> hosts.get(1).barrier(SOON));
        assertEquals("ABORTED of 0", story(elsewhere));
    }

    @Test
    @DisplayName("an interrupted wait for the device is INTERRUPTED there and ABORTED of that rank everywhere else")
    void anInterruptIsAnAbortOnTheOtherRanks() {
        List<Throwable> outcomes = devices.outcomes(rank -> {
            if (rank.rank() == 2) {
                Thread.currentThread().interrupt();
                rank.run(sum(4, 7), SOON);
            }
        });

        assertEquals("INTERRUPTED of 2", story(assertInstanceOf(FerroException.class, outcomes.get(2))));
        for (int rank = 0; rank < 2; rank++) {
            assertThrows(FerroException.class, () -> devices.rank(0).run(sum(4, 7), SOON));
        }
        assertEquals("ABORTED of 2", story(devices.rank(2).failure().orElseThrow()));
        assertEquals("ABORTED of 2", story(hosts.get(0).failure().orElseThrow()));
    }
}
