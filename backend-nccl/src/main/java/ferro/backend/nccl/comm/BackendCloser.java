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
 * Closes a {@link JnaNcclBackend}, in the same steps as for every group ({@link GroupDeparture}, {@link
 * GroupRegistry}). This object does not refer to the back end. Therefore it can also close a back end that the caller
 * forgot to close and that was garbage collected.
 *
 * <p>The communicator must exist as long as another rank can be in a call that this rank has also made. In NCCL, a call
 * ends on a rank when the rank has passed on its data. Other ranks may then still read data in the communicator of this
 * rank. Therefore the communicator is destroyed when all ranks have left. At the deadline, after a loss or after a
 * failure, the communicator is aborted instead.
 */
final class BackendCloser implements GroupRegistry.OpenGroup {
    static final Duration BOUND = Duration.ofSeconds(5);

    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);
    /** Minimum time that closing the communicator may take before it is aborted, even if the deadline has passed. */
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
     * Prepares the close of a group.
     *
     * @param member resources to release
     * @param queue  queue whose calls must end before the close
     * @param stage  staging memory, which is freed after the streams that use it
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

    /** Registers the group as open. If no caller closes the group, the group is closed when the JVM exits. */
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

    /**
     * Returns whether this rank has sent goodbye. If not, another thread is still in {@link #leave} and will close the
     * group.
     */
    private synchronized boolean hasLeft() {
        return leaving != null;
    }

    /** Leaves the group, unless this rank has left it, and closes it. Later calls do nothing. */
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

    /** Runs a task when no rank needs the communicator of this rank any more. */
    private void whenOver(Runnable task) {
        if (queue.control().knowsOthers()) {
            leaving().whenOver(task);
        } else {
            task.run();
        }
    }

    /** Closes the communicator on a new thread, because the caller must not wait. */
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
        // if the NCCL half of the group has made no call, the host half writes the better record of the rank's progress
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

    /** Closes or aborts the communicator, or waits until another thread has done this. */
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
