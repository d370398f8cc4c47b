package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.backend.nccl.comm.NcclRanks.sum;
import static ferro.harness.Says.assertFailed;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.harness.OnThread;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Calls that differ between ranks where NCCL does not hang. It lets some of them succeed with wrong data, and fails another
 * call with ncclInvalidUsage, as seen on a GPU (docs/nccl.md).
 */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclDifferentCallsTest {
    @BeforeEach
    void letTheLargestCallSucceed() {
        StandInHooks.standInMismatchTruncates(1);
    }

    /** NCCL lets the call of this rank succeed. The news from the other rank may come before this rank sees that. */
    private static void succeededUnlessTheNewsCameFirst(Throwable outcome) {
        if (outcome != null) {
            assertFailed(Code.MISMATCH, outcome);
        }
    }

    private static void says(Throwable failure, String... tokens) {
        // a comparison that comes late knows the line of each call, too
        String message = failure.getMessage().replaceAll(" \\(called by [^)]*\\)", "");
        Arrays.stream(tokens).forEach(token -> assertTrue(message.contains(token), "need " + token + ": " + failure));
    }

    @Test
    @DisplayName("a rank whose call NCCL refuses names both calls; the rank whose call succeeded hears it at once")
    void theRankThatNcclRefusesNamesBothCalls() throws InterruptedException {
        // a call of more than 50 ms is compared before NCCL refuses it: the failure then has no words of NCCL
        FerroException refused = refusedOnce();
        for (int again = 0; again < 20 && refused.getCause() == null; again++) {
            refused = refusedOnce();
        }
        assertInstanceOf(NcclException.class, refused.getCause(), "NCCL's words are the cause");
    }

    private static FerroException refusedOnce() throws InterruptedException {
        BlockingQueue<GroupEvent> events = new LinkedBlockingQueue<>();
        float[] summed = {1, 2, 3, 4};
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.rank(0).onEvent(events::add);

            List<Throwable> outcomes =
                    ranks.outcomes(rank -> rank.run(sum(rank.rank() == 0 ? summed : new float[] {10, 20, 30}), SOON));

            succeededUnlessTheNewsCameFirst(outcomes.get(0));
            assertArrayEquals(new float[] {1, 2, 3, 4}, summed, "with wrong data");
            FerroException refused = assertFailed(Code.MISMATCH, outcomes.get(1));
            says(
                    refused,
                    "at seq 1: rank 0 allReduce of f32[4] by sum, rank 1 allReduce of f32[3] by sum",
                    "results since then may be wrong on any rank");
            assertEquals(Set.of(0, 1), refused.where().culprits(), refused.toString());
            GroupEvent heard = events.poll(10, TimeUnit.SECONDS);
            assertEquals(GroupEvent.Kind.FAILED, heard.kind());
            says(assertFailed(Code.MISMATCH, outcome(ranks.rank(0), Collective.barrier())), "f32[4]", "f32[3]");
            return refused;
        }
    }

    @Test
    @DisplayName(
            "calls of one size succeed on all ranks; the call that NCCL refuses later names the first that differed")
    void theFirstDifferentCallIsNamed() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                rank.barrier(SOON);
                HostTensor data = HostTensor.of(new float[] {4, 7});
                rank.run(
                        rank.rank() == 0 ? Collective.allReduce(data, ReduceOp.SUM) : Collective.broadcast(data, 1),
                        SOON);
                if (rank.rank() == 1) {
                    rank.barrier(SOON);
                }
            });

            succeededUnlessTheNewsCameFirst(outcomes.get(0));
            FerroException refused = assertFailed(Code.MISMATCH, outcomes.get(1));
            says(refused, "barrier on group", "at seq 2: rank 0 allReduce of f32[2] by sum, rank 1 broadcast");
        }
    }

    /** The comparison of 64 calls took 139 messages between two ranks; those of the failure came behind them. */
    @Test
    @DisplayName("a refused call is compared with few messages, however many calls have ended")
    void aRefusedCallIsComparedWithFewMessages() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.outcomes(rank -> {
                for (int call = 0; call < 100; call++) {
                    rank.barrier(SOON);
                }
            });
            int before = ranks.controlMessages();

            List<Throwable> outcomes = ranks.outcomes(rank -> rank.run(sum(new float[4 - rank.rank()]), SOON));

            says(assertFailed(Code.MISMATCH, outcomes.get(1)), "at seq 101: rank 0 allReduce of f32[4]");
            int sent = ranks.controlMessages() - before;
            assertTrue(sent < 40, "control messages: " + sent);
        }
    }

    @Test
    @DisplayName("where the other rank does not answer, the failure is NCCL's own, soon")
    void withoutAnAnswerTheFailureIsThatOfNccl() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.mute(0, true);
            List<Throwable> outcomes = ranks.outcomes(rank -> rank.run(sum(new float[4 - rank.rank()]), SOON));

            says(assertFailed(Code.NATIVE, outcomes.get(1)), "NCCL allreduce failed", "ncclInvalidUsage");
            ranks.mute(0, false);
        }
    }

    private static Throwable outcome(JnaNcclBackend rank, Collective call) {
        return OnThread.outcome(() -> rank.run(call, SOON));
    }
}
