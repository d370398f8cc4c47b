package ferro.backend.nccl.comm;

import ferro.backend.nccl.memory.HostStagingBlocks;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.control.group.GracefulExit;
import ferro.control.group.GroupDeparture;
import ferro.control.group.GroupRegistry;
import ferro.spi.Deadlines;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ends a {@link JnaNcclBackend}, which leaves like every group ({@link GroupDeparture}, {@link GroupRegistry}). This
 * object does not refer to the back end, so a back end that the caller forgot to close ends, too.
 *
 * <p>The communicator must live while any other rank can be in a call that this rank has also made. In NCCL a rank
 * returns when it has passed on its data; the other ranks may still read data in that rank's communicator. Therefore
 * the communicator is destroyed when all ranks have left. At the deadline, after a loss or after a failure, the
 * communicator is aborted instead.
 */
final class BackendCloser implements GroupRegistry.OpenGroup {
    static final Duration BOUND = Duration.ofSeconds(5);

    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);
    /** Minimum time for the end of the communicator before it is aborted, even at the deadline. */
    private static final long LEAST_NANOS = 100_000_000;

    private final MemberResources member;
    private final WorkQueue queue;
    private final HostStagingBlocks stage;
    private final GroupDeparture ending;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicBoolean releasing = new AtomicBoolean();
    private final CountDownLatch released = new CountDownLatch(1);
    private GracefulExit leaving;

    /**
     * Prepares the end of a group.
     *
     * @param member resources to release
     * @param queue  queue whose calls must end first
     * @param stage  freed after the streams that use it
     */
    BackendCloser(MemberResources member, WorkQueue queue, HostStagingBlocks stage) {
        this.member = member;
        this.queue = queue;
        this.stage = stage;
        this.ending = new GroupDeparture(queue.control().group(), queue);
    }

    private GroupRegistry groups() {
        return member.keys().left();
    }

    /** Registers the group as open. If no caller closes the group, the exit of the JVM does. */
    void opened() {
        groups().enter(this);
    }

    void close() {
        close(BOUND);
    }

    /** Accepts no more calls, waits for the queued calls, and sends goodbye. Later calls do nothing. */
    void leave(Duration timeout) {
        long until = member.context().nanoTime() + Deadlines.nanos(Objects.requireNonNull(timeout, "timeout"));
        if (!queue.refuse()) {
            return;
        }
        try {
            ending.finish(timeout, until);
            if (hasFailed()) {
                queue.firstFailure().awaitSettled(queue.deadline(SETTLE_BOUND));
            }
        } finally {
            leaving();
        }
    }

    /** Sends goodbye, once. */
    private synchronized GracefulExit leaving() {
        if (leaving == null) {
            leaving = queue.control().leave();
        }
        return leaving;
    }

    /** Returns false while another thread waits for the calls of this group and will close it. */
    private synchronized boolean hasLeft() {
        return leaving != null;
    }

    /** Leaves, unless this rank has left, and closes. Later calls do nothing. */
    void close(Duration timeout) {
        Deadline bound = queue.deadline(timeout);
        leave(timeout);
        if (ending.isExit() || !hasLeft() || !closing.compareAndSet(false, true)) {
            return;
        }
        boolean isLast = groups().leave(this, true);
        whenOver(isLast ? () -> groups().isOver(this) : () -> releaseByItself(() -> {}));
        if (isLast) {
            long until = member.context().nanoTime() + bound.remainingNanos();
            groups().await(this, until).forEach(group -> group.release(Duration.ofNanos(bound.remainingNanos())));
        }
        giveBack();
        if (isLast) {
            member.keys().ids().close();
        }
    }

    private void giveBack() {
        queue.end();
        if (!queue.hasAbandoned()) {
            stage.close();
        }
        member.release();
    }

    /** Runs a task when no rank needs the communicator any more. */
    private void whenOver(Runnable task) {
        if (queue.control().knowsOthers()) {
            leaving().whenOver(task);
        } else {
            task.run();
        }
    }

    /** Ends the communicator on a new thread, because the caller must not wait. */
    private void releaseByItself(Runnable then) {
        Thread thread = new Thread(
                () -> {
                    release(BOUND);
                    then.run();
                    groups().isOver(this);
                },
                queue.identity().threadName("leaving"));
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public boolean hasFailed() {
        return queue.failure() != null;
    }

    @Override
    public GracefulExit exit(String signal) {
        // if this half has done nothing, the other half has the better record of the rank's progress
        boolean hasDoneNothing = queue.isIdle()
                && queue.ended() == 0
                && !queue.control().group().agreement().isInProgress();
        if (!ending.exit(hasDoneNothing && queue.firstFailure().isCoupled() ? "" : signal)) {
            return null;
        }
        groups().leave(this, true);
        whenOver(() -> releaseByItself(this::giveBack));
        return queue.control().knowsOthers() ? leaving() : null;
    }

    /** Ends the communicator now, or waits until another thread has ended it. */
    @Override
    public void release(Duration within) {
        Duration left = Duration.ofNanos(Math.max(LEAST_NANOS, Deadlines.nanos(within)));
        if (!releasing.compareAndSet(false, true)) {
            queue.deadline(BOUND).awaitQuietly(released::await);
            return;
        }
        try {
            if (hasFailed() || !queue.control().haveAllLeft()) {
                member.comm().abort(queue.identity().self() + " has closed it before all other ranks have");
            }
            member.comm().close(left);
        } finally {
            queue.control().close(left);
            released.countDown();
        }
    }
}
