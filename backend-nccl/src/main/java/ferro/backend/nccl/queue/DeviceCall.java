package ferro.backend.nccl.queue;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Native work that is submitted to a {@link DeviceThread}, and the handle of its caller. The work may still be in
 * progress after its first native call has returned. The protected methods run on the device thread.
 *
 * @param <T> result of the work
 */
public abstract class DeviceCall<T> {
    private final AtomicReference<CallPhase> phase = new AtomicReference<>(CallPhase.QUEUED);
    private final WorkLatch ended = new WorkLatch();
    private T result;
    private Throwable failure;
    /** Whether issuing has thrown, so that nothing is polled. Used by the device thread only. */
    private boolean hasThrown;

    enum CallPhase {
        QUEUED,
        RUNNING,
        ENDED
    }

    /**
     * Issues the work to the library. The method is called again until it returns true. No other work starts before
     * that, since a communicator must not be used while an earlier call of the communicator is in progress.
     *
     * @return whether the library has accepted the work
     */
    protected abstract boolean issue();

    /**
     * Polls whether the work has finished, without waiting. The method is called until it returns true. Other work may
     * start before that.
     *
     * @return whether the work has finished; true unless the work polls
     */
    protected boolean over() {
        return true;
    }

    /** {@return the result of the work; null unless it has one. The method is called once, at the end} */
    protected T outcome() {
        return null;
    }

    /**
     * Waits for the end of the work, with or without a failure.
     *
     * @return whether the work has ended; false means that it is still in progress, see {@link #drop}
     * @throws InterruptedException if this thread was interrupted; the work continues
     */
    public final boolean await(Deadline deadline) throws InterruptedException {
        return deadline.await(ended::await);
    }

    /** Waits like {@link #await}, but keeps an interrupt for later. */
    public final boolean awaitQuietly(Deadline deadline) {
        return deadline.awaitQuietly(ended::await);
    }

    /** Waits for some time, measured on the system's clock. */
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
     * @return whether the work will never run; false means that the work runs or has ended
     */
    public boolean drop(RuntimeException why) {
        boolean dropped = endUnbegun();
        if (dropped) {
            end(null, why);
        }
        return dropped;
    }

    /** Returns the result of the work, or null, or throws the work's exception. May be called only after the end. */
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

    /** Claims the end of work that has not begun. Returns false if the work has begun or ended. */
    final boolean endUnbegun() {
        return phase.compareAndSet(CallPhase.QUEUED, CallPhase.ENDED);
    }

    /** Claims the end. Returns the previous phase. */
    final CallPhase claimEnd() {
        return phase.getAndSet(CallPhase.ENDED);
    }

    /** Releases the waiting threads. */
    final void release() {
        ended.happens();
    }

    // the methods below are for the device thread

    boolean begin() {
        return phase.compareAndSet(CallPhase.QUEUED, CallPhase.RUNNING);
    }

    /** Returns whether the work is issued. Work that throws counts as issued. */
    final boolean isIssued() {
        try {
            return issue();
        } catch (RuntimeException | Error e) {
            hasThrown = true;
            end(null, e);
            return true;
        }
    }

    /** Returns whether the work has ended, by itself or with an exception. */
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

    /** Ends the work with its result, or with the exception that has ended it. */
    void end(T value, Throwable thrown) {
        phase.set(CallPhase.ENDED);
        result = value;
        failure = thrown;
        release();
    }
}
