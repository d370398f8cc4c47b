package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.backend.nccl.comm.NcclRanks.sum;
import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.NcclWork;
import ferro.backend.nccl.queue.OperationInfo;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.harness.OnThread;
import ferro.harness.Processes;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What a group of NCCL says of its failure beside the exceptions of its calls, and what it does when NCCL itself is stuck. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclDiagnosisTest {
    private static final OperationInfo TITLE =
            new OperationInfo(NcclOperation.ALL_REDUCE, "", () -> "allReduce of f32[2]", -1, 8, 8);

    private static final Duration LONG = Duration.ofHours(1);

    private static GroupEvent next(BlockingQueue<GroupEvent> events) throws InterruptedException {
        GroupEvent event = events.poll(10, TimeUnit.SECONDS);
        assertNotNull(event, "no event within 10 s");
        return event;
    }

    @Test
    @DisplayName(
            "row 4: a rank that never calls is named at a quarter of the deadline, and at the deadline by failure() and"
                    + " by the last event, on every rank that waits")
    void aLateRankIsNamedInAnEventAndAtTheDeadline() {
        List<BlockingQueue<GroupEvent>> events =
                List.of(new LinkedBlockingQueue<>(), new LinkedBlockingQueue<>(), new LinkedBlockingQueue<>());
        try (NcclRanks ranks = NcclRanks.of(3)) {
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                rank.onEvent(events.get(rank.rank())::add);
                rank.barrier(SOON);
                if (rank.rank() != 1) {
                    rank.run(sum(new float[] {4, 7}), Duration.ofMillis(2_000));
                }
            });
            FerroException ofLate = ranks.rank(1).failure().orElseThrow();
            assertEquals(2, ofLate.where().sequence(), "a rank in no call names the one that failed: " + ofLate);
            assertEquals("", ofLate.where().operation(), ofLate::toString);
            String said = ofLate.getMessage();
            String start = "group \"" + ofLate.where().group() + "\" has failed, as rank 1 reports: ";
            assertTrue(said.contains(start), said);
            for (int rank : new int[] {0, 2}) {
                FerroException thrown = assertInstanceOf(FerroException.class, outcomes.get(rank));
                FerroException failure = ranks.rank(rank).failure().orElseThrow();
                assertEquals(List.of(Code.TIMED_OUT, Code.TIMED_OUT), List.of(thrown.code(), failure.code()));
                assertEquals(
                        List.of(Set.of(1), Set.of(1)),
                        List.of(thrown.where().culprits(), failure.where().culprits()));
                assertEquals(2, failure.where().sequence(), failure.toString());
                assertSame(failure, ranks.rank(rank).failure().orElseThrow(), "it stays as it is");
                GroupEvent late = next(events.get(rank));
                GroupEvent failed = next(events.get(rank));
                assertEquals(GroupEvent.Kind.LATE, late.kind());
                assertEquals(GroupEvent.Kind.FAILED, failed.kind());
                assertEquals(List.of(1), late.ranks(), late.toString());
                assertEquals(List.of(1), failed.ranks(), failed.toString());
                assertTrue(events.get(rank).isEmpty(), "told twice");
                ranks.rank(rank).onEvent(events.get(rank)::add);
                assertEquals(failed, next(events.get(rank)), "who comes later hears of the failure too");
            }
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    @Test
    @DisplayName("row 4: ranks that have not called a broadcast are named, also where NCCL lets others return from it")
    void ranksThatHaveNotCalledABroadcastAreNamed() throws InterruptedException {
        BlockingQueue<GroupEvent> events = new LinkedBlockingQueue<>();
        try (NcclRanks ranks = NcclRanks.of(3)) {
            JnaNcclBackend leaf = ranks.rank(1);
            leaf.onEvent(events::add);
            Collective call = Collective.broadcast(HostTensor.of(new float[] {4, 7}), 0);
            Throwable outcome = OnThread.outcome(() -> leaf.run(call, Duration.ofMillis(1_200)));
            FerroException failure = assertFailed(Code.TIMED_OUT, outcome);
            assertEquals(Set.of(0, 2), failure.where().culprits(), failure.toString());
            String doubt = "rank 0 has not made this call";
            assertTrue(failure.getMessage().contains(doubt), failure.getMessage());
            GroupEvent late = next(events);
            assertEquals(List.of(0, 2), late.ranks(), late.toString());
            assertTrue(late.text().contains(doubt), late.text());
        }
    }

    @Test
    @DisplayName(
            "row 36: a native abort that hangs is given up at its bound; those who wait hear NATIVE, abort stuck, with the"
                    + " first failure as its cause; the process lives and close ends")
    void aNativeAbortThatHangsIsGivenUp() throws Exception {
        // ten seconds of patience pass in half a second
        long begun = System.nanoTime();
        int live = StandInHooks.standInLive("comm");
        WorkQueueTest.Job job = new WorkQueueTest.Job();
        try (WorkQueueTest.Queue at = WorkQueueTest.Queue.open(() -> begun + 20 * (System.nanoTime() - begun))) {
            WorkQueue queue = at.queue();
            NcclWork work = queue.submit(TITLE, job, LONG);
            job.awaitIssue();
            StandInHooks.standInAbortHangs(1);
            try {
                queue.fail(queue.identity().failure(Code.TIMED_OUT, Set.of(1), "allReduce timed out", null));
                FerroException failure = assertFailed(
                        Code.NATIVE,
                        OnThread.outcome(work::await),
                        "abort stuck",
                        "ncclCommAbort",
                        "end this process",
                        "TIMED_OUT");
                assertFailed(Code.TIMED_OUT, failure.getCause());
                FerroException first = queue.firstFailure().firstThrown();
                assertEquals(Code.TIMED_OUT, first.code(), "the group's own failure stays the first");
                assertFails(Code.NATIVE, () -> queue.refuse(NcclOperation.BARRIER));
            } finally {
                StandInHooks.standInAbortHangs(0);
            }
        }
        // the abort that was let go ends on its own thread
        Processes.await(() -> StandInHooks.standInLive("comm") <= live, SOON, "a communicator is left");
        assertEquals(0, job.ends.get(), "it never passes");
    }
}
