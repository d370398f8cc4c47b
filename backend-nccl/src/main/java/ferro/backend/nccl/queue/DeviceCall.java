package ferro.backend.nccl.queue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One task submitted to a {@link DeviceThread}, and the handle of its caller.
 *
 * @param <T> result of the task
 */
public final class DeviceCall<T> {
    private final DeviceTask<T> task;
    private final AtomicReference<CallPhase> phase = new AtomicReference<>(CallPhase.QUEUED);
    private final CountDownLatch ended = new CountDownLatch(1);
    private T result;
    private Throwable failure;

    private enum CallPhase {
        QUEUED,
        RUNNING,
        ENDED
    }

    DeviceCall(DeviceTask<T> task) {
        this.task = task;
    }

    /**
     * Waits for the end of the task, with or without a failure.
     *
     * @param deadline end of the wait
     * @return whether it has ended; false means that it is still in progress, see {@link #drop}
     * @throws InterruptedException if this thread was interrupted; the task goes on
     */
    public boolean await(Deadline deadline) throws InterruptedException {
        return deadline.await(ended::await);
    }

    /** Waits as {@link #await}, but keeps an interrupt for later. */
    public boolean awaitQuietly(Deadline deadline) {
        return deadline.awaitQuietly(ended);
    }

    /** Waits for some time, measured on the machine's own clock. */
    public boolean awaitNanos(long nanos) throws InterruptedException {
        return ended.await(nanos, TimeUnit.NANOSECONDS);
    }

    /** Returns whether the task has ended, with or without a failure. */
    public boolean isEnded() {
        return ended.getCount() == 0;
    }

    /**
     * Cancels the task if it has not begun. It then ends with a failure.
     *
     * @param why its failure
     * @return whether it will never run; false means that it runs or has ended
     */
    public boolean drop(RuntimeException why) {
        boolean dropped = phase.compareAndSet(CallPhase.QUEUED, CallPhase.ENDED);
        if (dropped) {
            end(null, why);
        }
        return dropped;
    }

    /** Returns the result of the task, or null, or throws its exception. Only after the end. */
    public T result() {
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

    // the methods below are for the thread

    boolean begin() {
        return phase.compareAndSet(CallPhase.QUEUED, CallPhase.RUNNING);
    }

    /** Returns whether the task is issued. A task that throws counts as issued. */
    boolean issue() {
        try {
            return task.issue();
        } catch (RuntimeException | Error e) {
            end(null, e);
            return true;
        }
    }

    /** Returns whether the task has ended, by itself or with an exception. */
    boolean look() {
        if (isEnded()) {
            return true;
        }
        try {
            if (!task.over()) {
                return false;
            }
            end(task.result(), null);
        } catch (RuntimeException | Error e) {
            end(null, e);
        }
        return true;
    }

    void fail(RuntimeException why) {
        end(null, why);
    }

    private void end(T value, Throwable thrown) {
        phase.set(CallPhase.ENDED);
        result = value;
        failure = thrown;
        ended.countDown();
    }
}
