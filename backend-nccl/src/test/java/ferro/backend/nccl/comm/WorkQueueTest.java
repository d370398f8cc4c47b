package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NativeOperation;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.NcclWork;
import ferro.backend.nccl.queue.OperationInfo;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.control.failure.Failure;
import ferro.harness.OnThread;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** How operations end, on a communicator of one rank and with jobs that only note what is asked of them. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class WorkQueueTest {
    private static final Failure FAILURE = new Failure(Code.ABORTED, 0, -1, Set.of(), "out of paper", null);

    /** A queue of its own, closed after its communicator. */
    record Queue(Communicator comm, WorkQueue queue) implements AutoCloseable {
        static Queue open(LongSupplier clock) {
            CommFactory factory = new CommFactory(StandIn.load(), clock);
            Communicator comm = factory.rank(new CommIdentity("queue", 0, 1, 0), NcclUniqueId.made(), Worlds.plenty());
            return new Queue(
                    comm, new WorkQueue(comm, Worlds.control(comm.handle().identity())));
        }

        NcclWork submit(NativeOperation job) {
            return queue.submit(
                    new OperationInfo(NcclOperation.ALL_REDUCE, "", () -> "allReduce", -1, 4, 4), job, SOON);
        }

        @Override
        public void close() {
            comm.close();
            queue.end();
        }
    }

    /** Handed over and passed when the test says so. */
    static class Job implements NativeOperation {
        final CountDownLatch asked = new CountDownLatch(1);
        final AtomicInteger cuts = new AtomicInteger();
        final AtomicInteger ends = new AtomicInteger();
        final AtomicInteger drops = new AtomicInteger();
        volatile boolean taken = true;
        volatile boolean passed;

        @Override
        public boolean issue() {
            asked.countDown();
            return taken;
        }

        @Override
        public boolean passed() {
            return passed;
        }

        @Override
        public void cutOff() {
            cuts.incrementAndGet();
        }

        @Override
        public void end() {
            ends.incrementAndGet();
        }

        @Override
        public void drop() {
            drops.incrementAndGet();
        }

        List<Integer> counts() {
            return List.of(cuts.get(), ends.get(), drops.get());
        }

        void awaitIssue() throws InterruptedException {
            assertTrue(asked.await(10, TimeUnit.SECONDS), "never issued");
        }
    }

    private static FerroException outcome(NcclWork work) {
        return assertInstanceOf(FerroException.class, OnThread.outcome(work::await));
    }

    @Test
    @DisplayName(
            "1-32 T10: an operation that NCCL had not taken when its group failed ends after the abort, marked again")
    void anOperationThatNcclHadNotTakenEndsAfterTheAbort() throws Exception {
        try (Queue at = Queue.open(System::nanoTime)) {
            AtomicBoolean abortOver = new AtomicBoolean();
            Job job = new Job() {
                @Override
                public void end() {
                    super.end();
                    abortOver.set(at.comm.handle().isAbortOver());
                }
            };
            job.taken = false;
            job.passed = true;
            NcclWork work = at.submit(job);
            job.awaitIssue();
            // a call that is inside holds the abort up for its grace
            at.comm.handle().enter(NcclOperation.ALL_REDUCE);
            at.queue.fail(FAILURE);
            assertEquals(Code.ABORTED, outcome(work).code());
            at.comm.handle().leave();
            assertTrue(abortOver.get(), "ended before the abort");
            assertEquals(List.of(1, 1, 0), job.counts());
        }
    }

    @Test
    @DisplayName("T10: an operation that has not begun when its group fails gives back what it holds, once, at once")
    void anOperationThatHasNotBegunIsReleasedOnce() throws Exception {
        try (Queue at = Queue.open(System::nanoTime)) {
            Job first = new Job();
            first.taken = false;
            first.passed = true;
            Job second = new Job();
            NcclWork begun = at.submit(first);
            NcclWork queued = at.submit(second);
            first.awaitIssue();
            at.queue.fail(FAILURE);
            outcome(begun);
            outcome(queued);
            assertEquals(List.of(0, 0, 1), second.counts());
            Job third = new Job();
            assertThrows(FerroException.class, () -> at.submit(third));
            assertEquals(List.of(0, 0, 1), third.counts());
        }
    }

    @Test
    void aFailedOperationIsNotTheLastThatHasSucceeded() throws Exception {
        try (Queue at = Queue.open(System::nanoTime)) {
            Job first = new Job();
            // stages run after the queue has counted the end
            CompletableFuture<Void> succeeded = at.submit(first).completion().toCompletableFuture();
            first.passed = true;
            succeeded.get(10, TimeUnit.SECONDS);
            assertEquals(1, at.queue.ended());

            Job second = new Job();
            second.taken = false;
            CompletableFuture<Void> failed = at.submit(second).completion().toCompletableFuture();
            second.passed = true;
            second.awaitIssue();
            at.queue.fail(FAILURE);
            assertThrows(ExecutionException.class, () -> failed.get(10, TimeUnit.SECONDS));
            assertEquals(1, at.queue.ended());
        }
    }

    @Tag("large")
    @Test
    @DisplayName("T10: an operation that the device never passes is let go, and gives nothing back")
    void anOperationThatNeverPassesKeepsItsMemory() throws Exception {
        try (Queue at = Queue.open(System::nanoTime)) {
            Job job = new Job();
            NcclWork work = at.submit(job);
            job.awaitIssue();
            at.queue.fail(FAILURE);
            outcome(work);
            assertEquals(List.of(1, 0, 0), job.counts());
            assertTrue(at.queue.hasAbandoned());
        }
    }

    private static LongSupplier failingInTheWatchdog(BooleanSupplier fails) {
        return () -> {
            if (Thread.currentThread().getName().endsWith("watchdog") && fails.getAsBoolean()) {
                throw new OutOfMemoryError("no clock in this test");
            }
            return System.nanoTime();
        };
    }

    @Tag("large")
    @Test
    @DisplayName("2-12 1-32: whatever goes wrong while a failure is settled, those who wait are let go")
    void aFailingWatchdogReleasesTheWaitingThreads() throws Exception {
        AtomicReference<WorkQueue> failing = new AtomicReference<>();
        LongSupplier clock = failingInTheWatchdog(() -> {
            WorkQueue queue = failing.get();
            return queue != null && queue.failure() != null && failing.compareAndSet(queue, null);
        });
        try (Queue at = Queue.open(clock)) {
            Job job = new Job();
            NcclWork work = at.submit(job);
            job.awaitIssue();
            failing.set(at.queue);
            at.queue.fail(FAILURE);
            assertEquals(Code.ABORTED, outcome(work).code());
            assertTrue(at.queue.firstFailure().awaitSettled(Worlds.plenty()));
        }
    }

    @Tag("large")
    @Test
    @DisplayName("2-12: a watchdog that fails while all is well ends the group with its failure")
    void aFailingWatchdogFailsTheGroup() throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        try (Queue at = Queue.open(failingInTheWatchdog(() -> broken.getAndSet(false)))) {
            Job job = new Job();
            NcclWork work = at.submit(job);
            job.awaitIssue();
            broken.set(true);
            assertSays(outcome(work).getMessage(), "no clock in this test");
        }
    }

    @Test
    @DisplayName("0-18: what was chained to an operation runs after it has given back what it holds")
    void chainedTasksRunAfterTheOperationReleasedItsMemory() throws Exception {
        try (Queue at = Queue.open(System::nanoTime)) {
            CountDownLatch chained = new CountDownLatch(1);
            AtomicBoolean chainedFirst = new AtomicBoolean();
            Job job = new Job() {
                @Override
                public void end() {
                    try {
                        chainedFirst.set(chained.await(100, TimeUnit.MILLISECONDS));
                    } catch (InterruptedException interrupted) {
                        throw new AssertionError(interrupted);
                    }
                    super.end();
                }
            };
            NcclWork work = at.submit(job);
            work.completion().thenRun(chained::countDown);
            job.passed = true;
            work.await();
            assertTrue(chained.await(10, TimeUnit.SECONDS));
            assertFalse(chainedFirst.get());
            assertEquals(List.of(0, 1, 0), job.counts());
        }
    }

    @Test
    @DisplayName("0-18: completion may be asked for after the close of the group")
    void completionIsAvailableAfterTheClose() throws Exception {
        NcclWork[] works = new NcclWork[2];
        try (Queue at = Queue.open(System::nanoTime)) {
            for (int i = 0; i < works.length; i++) {
                Job job = new Job();
                works[i] = at.submit(job);
                if (i == 0) {
                    works[0].completion();
                }
                job.passed = true;
                works[i].await();
            }
        }
        works[1].completion().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
}
