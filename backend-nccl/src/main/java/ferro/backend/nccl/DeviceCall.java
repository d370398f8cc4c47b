package ferro.backend.nccl;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One task on its way through a {@link DeviceThread}, and what its caller holds meanwhile.
 *
 * @param <T> what the task gives
 */
final class DeviceCall<T> {
    private final DeviceTask<T> task;
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.QUEUED);
    private final CountDownLatch ended = new CountDownLatch(1);
    private T result;
    private Throwable failure;

    private enum Phase {
        QUEUED,
        RUNNING,
        ENDED
    }

    DeviceCall(DeviceTask<T> task) {
        this.task = task;
    }

    /**
     * Waits for the end, good or bad.
     *
     * @param deadline until when
     * @return whether it has ended; false means that it goes on, see {@link #drop}
     * @throws InterruptedException if this thread was interrupted; the task goes on
     */
    boolean await(Deadline deadline) throws InterruptedException {
        return deadline.await(ended);
    }

    /** Waits as {@link #await}, but keeps an interrupt for later. */
    boolean awaitQuietly(Deadline deadline) {
        return deadline.awaitQuietly(ended);
    }

    /** Waits for a while of the machine's own time. */
    boolean awaitNanos(long nanos) throws InterruptedException {
        return ended.await(nanos, TimeUnit.NANOSECONDS);
    }

    boolean isEnded() {
        return ended.getCount() == 0;
    }

    /**
     * Takes the task back if it has not begun; it then ends with a failure.
     *
     * @param why the failure
     * @return whether it will never run; false means that it runs or has ended
     */
    boolean drop(RuntimeException why) {
        boolean dropped = phase.compareAndSet(Phase.QUEUED, Phase.ENDED);
        if (dropped) {
            end(null, why);
        }
        return dropped;
    }

    /**
     * Returns what the task gave, or throws what it threw; only after the end.
     *
     * @return result or null
     */
    T result() {
        if (!isEnded()) {
            throw new IllegalStateException("asked for a result in phase " + phase + ": wait for the end first");
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw (RuntimeException) failure;
        }
        return result;
    }

    // what follows is the thread's side

    boolean begin() {
        return phase.compareAndSet(Phase.QUEUED, Phase.RUNNING);
    }

    /** Returns whether the issuing is done; a task that throws is. */
    boolean issue() {
        try {
            return task.issue();
        } catch (RuntimeException | Error e) {
            end(null, e);
            return true;
        }
    }

    /** Returns whether the task has ended, by itself or by what it threw. */
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
        phase.set(Phase.ENDED);
        result = value;
        failure = thrown;
        ended.countDown();
    }
}
