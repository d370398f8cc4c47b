package ferro.backend.nccl.queue;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/**
 * The end of an operation, which happens once. The threads that wait for it are known without a cost for them: a latch of
 * the JDK keeps the same queue, but does not show it.
 */
final class WorkEnd {
    private final Waiters waiters = new Waiters();

    private static final class Waiters extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected int tryAcquireShared(int ignored) {
            return getState() == 1 ? 1 : -1;
        }

        @Override
        protected boolean tryReleaseShared(int ignored) {
            setState(1);
            return true;
        }

        boolean hasHappened() {
            return getState() == 1;
        }
    }

    boolean hasHappened() {
        return waiters.hasHappened();
    }

    /** Ends the operation and wakes the threads that wait for it. */
    void happens() {
        waiters.releaseShared(1);
    }

    /** Waits for the end. Returns false if the time has passed before. */
    boolean await(long time, TimeUnit unit) throws InterruptedException {
        return waiters.tryAcquireSharedNanos(1, unit.toNanos(time));
    }

    /** Returns the threads that wait now; any thread. */
    Collection<Thread> waiters() {
        return waiters.getQueuedThreads();
    }
}
