package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.backend.nccl.comm.NcclRanks.sum;
import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Message;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.group.SystemContext;
import ferro.harness.Processes;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a rank that leaves says, what fails by it, and how long its close waits for the others. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclGoodbyeTest {
    @BeforeEach
    void leaveEarly() {
        StandInHooks.standInEarlyReturns(1);
    }

    private static void sums(CollectiveBackend rank) {
        rank.run(sum(4, 7), SOON);
    }

    private static FerroException failure(Throwable outcome, Code code, int culprit) {
        FerroException failure = assertFailed(code, outcome);
        assertEquals(Set.of(culprit), failure.where().culprits(), failure.toString());
        return failure;
    }

    private static long millisSince(long begun) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    }

    @ParameterizedTest(name = "{0} messages, rank 0 {2}")
    @CsvSource({
        "2, 'it has sent 2 messages to this rank, and this call is for message 3', receives",
        "2, 'it has taken 2 messages from this rank, and this call is for message 3', sends"
    })
    @DisplayName(
            "a message that the leaver has neither sent nor taken fails with the numbers of both, one before that does not")
    void aMessageFailsIfItsPeerLeftBeforeIt(int made, String says, String how) {
        // without buffers: a send waits for its receive
        StandInHooks.standInEarlyReturns(how.equals("receives") ? 1 : 0);
        try (NcclRanks ranks = NcclRanks.of(2)) {
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                boolean sends = (rank.rank() == 0) == how.equals("sends");
                int count = rank.rank() == 0 ? made + 1 : made;
                int peer = 1 - rank.rank();
                // messages of the other direction have numbers of their own
                for (int message = 0; message <= made; message++) {
                    HostTensor tensor = HostTensor.of(new float[1]);
                    rank.submit(sends ? Message.recv(tensor, peer, 0) : Message.send(tensor, peer, 0), SOON)
                            .await();
                }
                for (int message = 0; message < count; message++) {
                    float[] data = {message + 3};
                    HostTensor tensor = HostTensor.of(data);
                    rank.submit(sends ? Message.send(tensor, peer, 0) : Message.recv(tensor, peer, 0), SOON)
                            .await();
                    assertEquals(message + 3, data[0]);
                }
                rank.close();
            });
            assertNull(outcomes.get(1));
            assertSays(failure(outcomes.get(0), Code.PEER_LOST, 1), says);
        }
    }

    @Test
    @DisplayName("where all say goodbye every communicator is destroyed, and none aborted")
    void ranksThatAllSayGoodbyeDestroyTheirCommunicators() {
        NativeLog.start();
        try (NcclRanks ranks = NcclRanks.of(3)) {
            ranks.run(NcclGoodbyeTest::sums);
        }
        NativeLog.assertFreed(NativeLog.stop(), 0, 3);
    }

    @Test
    @DisplayName(
            "close waits for goodbyes that do not come at most its bound, and aborts then; close without time does not wait")
    void aCloseWaitsForGoodbyesOnlyUpToItsBound() {
        for (long bound : new long[] {0, 400}) {
            try (NcclRanks ranks = NcclRanks.of(2)) {
                ranks.run(NcclGoodbyeTest::sums);
                NativeLog.start();
                long begun = System.nanoTime();
                ranks.rank(0).close(Duration.ofMillis(bound));
                long millis = millisSince(begun);
                assertTrue(
                        millis >= bound && millis < bound + 2_500, "close of " + bound + " ms took " + millis + " ms");
                NativeLog.assertFreed(NativeLog.stop(), 1, 0);
            }
        }
    }

    @Test
    @DisplayName(
            "closing a subgroup waits for nobody; its communicator lives until its last rank has left it, and no longer")
    void closingASubgroupDoesNotWait() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            CollectiveBackend[] parts = new CollectiveBackend[2];
            ranks.run(rank -> parts[rank.rank()] = rank.newGroup(new int[] {1, 0}, "part", SOON));
            int live = StandInHooks.standInLive("comm");
            NativeLog.start();
            long begun = System.nanoTime();
            parts[1].close();
            assertTrue(millisSince(begun) < 1_500, "close took " + millisSince(begun) + " ms");
            assertEquals(live, StandInHooks.standInLive("comm"), "communicators while one rank is in");
            parts[0].close();
            Processes.await(() -> StandInHooks.standInLive("comm") <= live - 2, SOON, "communicators are left");
            assertEquals(live - 2, StandInHooks.standInLive("comm"), "communicators when both have left");
            assertEquals(0, NativeLog.count(NativeLog.stop(), "ncclCommAbort"));
            ranks.run(NcclGoodbyeTest::sums);
        }
    }

    @Test
    @DisplayName(
            "the ranks of one process may be closed one after the other by one thread: no close waits for a later one")
    void oneThreadMayCloseTheRanksOfAProcessInTurn() {
        try (SystemContext context = SystemContext.of(StandIn.settings())) {
            List<JnaNcclBackend> ends = NcclWorld.createWorld(context, 0, 1, 2);
            NativeLog.start();
            long begun = System.nanoTime();
            ends.forEach(JnaNcclBackend::close);
            assertTrue(millisSince(begun) < 3_000, "three closes took " + millisSince(begun) + " ms");
            NativeLog.assertFreed(NativeLog.stop(), 0, 3);
        }
    }
}
