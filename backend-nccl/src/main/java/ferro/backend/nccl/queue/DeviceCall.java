package ferro.backend.nccl.queue;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Native work that is submitted to a {@link DeviceThread}, and the handle by which the caller waits for the work. The
 * work may still be in progress after its native call has returned. The protected methods run on the device thread.
 *
 * @param <T> result of the work
 */
public abstract class DeviceCall<T> {
    private final AtomicReference<CallPhase> phase = new AtomicReference<>(CallPhase.QUEUED);
    private final WorkLatch ended = new WorkLatch();
    private T result;
    private Throwable failure;
    /** Whether {@link #issue} has thrown, so that the work is not polled. Used by the device thread only. */
    private boolean hasThrown;

    enum CallPhase {
        QUEUED,
        RUNNING,
        ENDED
    }

    /**
     * Passes the work to NCCL or the runtime. The method is called again until it returns true. No other work starts
     * before that, since a communicator must not be used while an earlier call of the communicator is in progress.
     *
     * @return whether the library has accepted the work
     */
    protected abstract boolean issue();

    /**
     * Returns whether the work has finished, without waiting. The method is called until it returns true. Other work
     * may start before that.
     *
     * @return whether the work has finished; the default method returns true
     */
    protected boolean over() {
        return true;
    }

    /** {@return the result of the work, or null. The method is called once, when the work has finished} */
    protected T outcome() {
        return null;
    }

    /**
     * Waits until the work has ended, with or without a failure.
     *
     * @return whether the work has ended; false means that it is still in progress, see {@link #drop}
     * @throws InterruptedException if this thread was interrupted; the work continues
     */
    public final boolean await(Deadline deadline) throws InterruptedException {
        return deadline.await(ended::await);
    }

    /**
     * Waits like {@link #await}, but an interrupt does not end the wait. The interrupt flag is set again afterwards.
     */
    public final boolean awaitQuietly(Deadline deadline) {
        return deadline.awaitQuietly(ended::await);
    }

    /** Waits until the work has ended, at most for the given time on the system's clock. */
    public final boolean awaitNanos(long nanos) throws InterruptedException {
        return ended.await(nanos, TimeUnit.NANOSECONDS);
    }

    /** Returns the threads that wait for the work. Any thread may call this method. */
    final Collection<Thread> waiters() {
        return ended.getQueuedThreads();
    }

    /** Returns whether the work has ended, with or without a failure. */
    public final boolean isEnded() {
        return ended.hasHappened();
    }

    /**
     * Cancels the work if it has not begun. The work then ends with a failure.
     *
     * @return whether the work was cancelled; false means that the work runs or has ended
     */
    public boolean drop(RuntimeException why) {
        boolean dropped = endUnbegun();
        if (dropped) {
            end(null, why);
        }
        return dropped;
    }

    /**
     * Returns the result of the work, which may be null, or throws the exception of the work. May be called only after
     * the work has ended.
     */
    public final T result() {
        if (!isEnded()) {
            throw new IllegalStateException(
                    "a result was requested in phase " + phase + ": wait for the end of the call first");
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw (RuntimeException) failure;
        }
        return result;
    }

    /** Marks the work as ended if it has not begun. Returns false if the work has begun or ended. */
    final boolean endUnbegun() {
        return phase.compareAndSet(CallPhase.QUEUED, CallPhase.ENDED);
    }

    /** Marks the work as ended. Returns the previous phase of the work. */
    final CallPhase claimEnd() {
        return phase.getAndSet(CallPhase.ENDED);
    }

    /** Wakes the threads that wait for the work. */
    final void release() {
        ended.happens();
    }

    // the methods below are for the device thread

    boolean begin() {
        return phase.compareAndSet(CallPhase.QUEUED, CallPhase.RUNNING);
    }

    /**
     * Calls {@link #issue} and returns its result. If {@link #issue} throws, ends the work with the exception and
     * returns true.
     */
    final boolean isIssued() {
        try {
            return issue();
        } catch (RuntimeException | Error e) {
            hasThrown = true;
            end(null, e);
            return true;
        }
    }

    /** Polls the work and ends it if it has finished or thrown. Returns whether the work has ended. */
    final boolean isOver() {
        if (hasThrown || isEnded()) {
            return true;
        }
        try {
            if (!over()) {
                return false;
            }
            end(outcome(), null);
        } catch (RuntimeException | Error e) {
            end(null, e);
        }
        return true;
    }

    /** Ends the work with its result, or with the exception that it has thrown. */
    void end(T value, Throwable thrown) {
        phase.set(CallPhase.ENDED);
        result = value;
        failure = thrown;
        release();
    }
}
