package ferro.backend.nccl.comm;

import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.control.group.GracefulExit;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The communicator of a group that this rank has closed. It must live until no other rank can be in a call that this
 * rank has made. NCCL lets a rank return when it has passed on its data; the others may still read the data in memory
 * of that rank's communicator.
 *
 * <p>It ends in order when all ranks have left. It ends by an abort when the time is over, a rank is lost or the group
 * has failed.
 */
final class LeavingComm {
    /** Least time for the end of the communicator before it is aborted, even without time left. */
    private static final long LEAST_NANOS = 100_000_000;

    private static final Duration LOOK = Duration.ofMillis(20);
    private static final Duration BOUND = Duration.ofSeconds(5);

    private final WorkQueue queue;
    private final Communicator comm;
    private final GracefulExit leave;
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicBoolean ending = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);

    /** Follows a leave that has begun. */
    LeavingComm(WorkQueue queue, Communicator comm, GracefulExit leave) {
        this.comm = comm;
        this.queue = queue;
        this.leave = leave;
        leave.whenOver(over::countDown);
    }

    private boolean allHaveLeft() {
        return queue.failure() == null && queue.control().allHaveLeft();
    }

    /**
     * Waits until the other ranks have left, or have heard of the failure. Waits no longer for ranks if NCCL says that one
     * is lost.
     */
    void await(Deadline bound) {
        while (over.getCount() > 0 && !allHaveLeft() && !bound.passed() && !knowsLoss()) {
            queue.deadline(shorter(LOOK, bound)).awaitQuietly(over);
        }
    }

    private boolean knowsLoss() {
        return queue.failure() == null && comm.asyncFailure(NcclOperation.CLOSE).isPresent();
    }

    private static Duration shorter(Duration length, Deadline bound) {
        return Duration.ofNanos(Math.min(length.toNanos(), bound.remainingNanos()));
    }

    /**
     * Ends the communicator as soon as all ranks have left or the group has failed, on a thread of its own.
     * {@link #end} may come before.
     */
    void endByItself(Runnable after) {
        Runnable ends = () -> {
            Thread thread = new Thread(
                    () -> {
                        end(queue.deadline(BOUND));
                        after.run();
                    },
                    queue.identity().threadName("leaving"));
            thread.setDaemon(true);
            thread.start();
        };
        if (allHaveLeft()) {
            ends.run();
        } else {
            leave.whenOver(ends);
        }
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
            queue.control().close(left);
            ended.countDown();
        }
    }
}
