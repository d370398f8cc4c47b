package ferro.backend.nccl.queue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/**
 * The end of an operation, which happens once. This class can list the waiting threads, at no cost for them. A latch of
 * the JDK keeps the same queue, but does not expose it.
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

    /** Ends the operation and wakes the threads that wait for it. */
    void happens() {
        releaseShared(1);
    }

    /** Waits for the end. Returns false if the time passes first. */
    boolean await(long time, TimeUnit unit) throws InterruptedException {
        return tryAcquireSharedNanos(1, unit.toNanos(time));
    }
}
