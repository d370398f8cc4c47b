package ferro.backend.nccl.queue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/**
 * A latch that opens when an operation ends. Unlike a latch of the JDK, this class can list the threads that wait for
 * it. The list costs the waiting threads nothing, because the JDK queues them in any case.
 */
final class WorkLatch extends AbstractQueuedSynchronizer {
    private static final long serialVersionUID = 1;

    @Override
    protected int tryAcquireShared(int ignored) {
        return hasHappened() ? 1 : -1;
    }

    @Override
    protected boolean tryReleaseShared(int ignored) {
        setState(1);
        return true;
    }

    boolean hasHappened() {
        return getState() == 1;
    }

    /** Opens the latch and wakes the threads that wait for it. */
    void happens() {
        releaseShared(1);
    }

    /** Waits until the latch is open. Returns false if the time passes first. */
    boolean await(long time, TimeUnit unit) throws InterruptedException {
        return tryAcquireSharedNanos(1, unit.toNanos(time));
    }
}
