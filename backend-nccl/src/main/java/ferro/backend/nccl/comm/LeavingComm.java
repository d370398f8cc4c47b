package ferro.backend.nccl.comm;

import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.LeaveLog;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.WorkQueue;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The communicator of a group that this rank has closed. It must live until no other rank can be in a call that this
 * rank has made. NCCL lets a rank return when it has passed on its data; the others may still read the data in memory
 * of that rank's communicator.
 *
 * <p>It ends in order when all ranks have said goodbye. It ends by an abort when the time is over or the group has
 * failed.
 */
final class LeavingComm {
    /** Least time for the end of the communicator before it is aborted, even without time left. */
    private static final long LEAST_NANOS = 100_000_000;

    private static final Duration LOOK = Duration.ofMillis(20);
    private static final Duration BOUND = Duration.ofSeconds(5);

    private final WorkQueue queue;
    private final Communicator comm;
    private final CompletableFuture<Boolean> over;
    private final CountDownLatch overLatch = new CountDownLatch(1);
    private final AtomicBoolean ending = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);

    /** Begins to follow the goodbyes of the other ranks; to be called after the own one. */
    LeavingComm(WorkQueue queue, Communicator comm) {
        this.comm = comm;
        this.queue = queue;
        LeaveLog leaveLog = queue.records().leaveLog();
        if (queue.failure() != null) {
            over = CompletableFuture.completedFuture(false);
        } else if (leaveLog.complete()) {
            over = CompletableFuture.completedFuture(true);
        } else {
            over = queue.records().follow(leaveLog::complete, true);
        }
        over.thenRun(overLatch::countDown);
    }

    private boolean allHaveLeft() {
        return over.getNow(false) && queue.failure() == null;
    }

    /** Waits for the goodbyes of the other ranks. Returns whether all are there. */
    boolean await(Deadline bound) {
        while (overLatch.getCount() > 0 && !bound.passed() && !hasFailed()) {
            queue.deadline(shorter(LOOK, bound)).awaitQuietly(overLatch);
        }
        return allHaveLeft();
    }

    /** Returns whether the group has failed. The other half of the group, or NCCL, may know that a rank is lost. */
    private boolean hasFailed() {
        return queue.failure() != null || comm.asyncFailure(NcclOperation.CLOSE).isPresent();
    }

    private static Duration shorter(Duration length, Deadline bound) {
        return Duration.ofNanos(Math.min(length.toNanos(), bound.remainingNanos()));
    }

    /**
     * Ends the communicator as soon as all ranks have left or the group has failed, on a thread of its own.
     * {@link #end} may come before.
     */
    void endByItself(Runnable after) {
        over.thenRun(() -> {
            Thread thread = new Thread(
                    () -> {
                        end(queue.deadline(BOUND));
                        after.run();
                    },
                    queue.identity().threadName("leaving"));
            thread.setDaemon(true);
            thread.start();
        });
    }

    /** Ends the communicator now, or waits until another thread has ended it. */
    void end(Deadline bound) {
        Duration left = Duration.ofNanos(Math.max(LEAST_NANOS, bound.remainingNanos()));
        if (!ending.compareAndSet(false, true)) {
            queue.deadline(left).awaitQuietly(ended);
            return;
        }
        try {
            if (!allHaveLeft()) {
                comm.abort("rank " + queue.identity().rank() + " has closed it before all other ranks have");
            }
            comm.close(left);
        } finally {
            queue.records().close();
            ended.countDown();
        }
    }
}
