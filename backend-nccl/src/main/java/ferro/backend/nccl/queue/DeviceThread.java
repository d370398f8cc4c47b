package ferro.backend.nccl.queue;

import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.spi.PlainLoggers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The one platform thread that makes the native calls of a communicator, in the order in which they were submitted.
 *
 * <p>CUDA has a current device for each operating system thread, and NCCL counts its open groups for each thread. A
 * virtual thread may change its operating system thread between two calls, and a call of ferro must not change the
 * caller's device. Therefore callers submit a task to this thread. They wait for it with a deadline, and can be
 * interrupted. A task whose caller stops waiting is cancelled if it has not begun.
 *
 * <p>Work that finishes some time after its native call ({@link DeviceCall#over}) is polled between other tasks, at
 * first without a pause, then less and less often. Thus a thread on which the right device is current polls the stream,
 * and no other task is blocked.
 *
 * <p>Each call allocates two small objects in addition to the {@link DeviceCall}. A poll allocates nothing.
 */
public final class DeviceThread implements AutoCloseable {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final LongSupplier clock;
    private final Thread thread;
    private final BlockingQueue<DeviceCall<?>> queue = new LinkedBlockingQueue<>();
    /** Task that is queued when the thread must end, to wake the thread while it waits for work. */
    private final DeviceCall<Void> last = new OneShotCall<>(() -> null);
    /** Tasks that were issued and have not ended; used by the device thread only. */
    private final List<DeviceCall<?>> underWay = new ArrayList<>();
    /**
     * Sleeps between polls of the tasks in progress. {@code issueNaps} are sleeps between attempts to issue the next
     * task.
     */
    private final Backoff lookNaps = new Backoff();

    private final Backoff issueNaps = new Backoff();

    /** The current device of the thread; -1 before a device was set. Used by the device thread only. */
    private int device = -1;

    private volatile boolean closed;

    /**
     * Starts a thread with a name such as {@code ferro-<group>-<rank>-nccl}. The clock is monotonic, in nanoseconds.
     */
    public DeviceThread(String name, LongSupplier clock) {
        this.clock = clock;
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** A call that is complete when its body returns. */
    private static final class OneShotCall<T> extends DeviceCall<T> {
        private final Supplier<T> body;
        private T made;

        OneShotCall(Supplier<T> body) {
            this.body = body;
        }

        @Override
        protected boolean issue() {
            made = body.get();
            return true;
        }

        @Override
        protected T outcome() {
            return made;
        }
    }

    String name() {
        return thread.getName();
    }

    /**
     * Makes a device current on this thread for the next calls. May be called on the device thread only.
     *
     * @throws CudaException if the device does not exist
     */
    public void use(int ordinal) {
        if (!isCurrent()) {
            throw new IllegalStateException(Thread.currentThread().getName() + " tried to set device " + ordinal
                    + " of " + name() + ": only that thread may set it");
        }
        if (ordinal != device) {
            ResultChecker.cuda(Cuda.cudaSetDevice(ordinal), "cudaSetDevice");
            device = ordinal;
        }
    }

    /**
     * Makes the next {@link #use} set the device in any case. Called after native code that may have made another
     * device current.
     */
    public void forgetDevice() {
        device = -1;
    }

    /**
     * Returns whether no task is in progress except the task that is being issued. May be called on the device thread
     * only.
     */
    public boolean hasNothingElse() {
        return underWay.isEmpty();
    }

    /** Returns whether the caller runs on this thread. */
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /**
     * Submits a task that is complete when its body returns. If the caller is the device thread, the task runs at once.
     *
     * @throws IllegalStateException if the thread is closed
     */
    public <T> DeviceCall<T> submit(Supplier<T> body) {
        return submit(new OneShotCall<>(body));
    }

    /**
     * Submits a call. If the caller is the device thread, the call runs at once and must also finish at once.
     *
     * @throws IllegalStateException if the thread is closed
     */
    public <T> DeviceCall<T> submit(DeviceCall<T> call) {
        if (isCurrent()) {
            runNow(call);
            return call;
        }
        boolean queued = !closed;
        if (queued) {
            queue.add(call);
        }
        // the device thread may have emptied the queue for the last time just before the call was added
        if (closed && (!queued || queue.remove(call))) {
            throw closedFailure();
        }
        return call;
    }

    /**
     * Runs a body on the device thread. Waits until the body has run. Returns the body's result, or throws the body's
     * exception.
     *
     * @throws TimeoutException     if the deadline passed; the body will never run, or is stuck in a native call
     * @throws InterruptedException if the caller was interrupted; the body will never run, or is still running
     */
    public <T> T call(Supplier<T> body, Deadline deadline) throws TimeoutException, InterruptedException {
        DeviceCall<T> call = submit(body);
        try {
            if (call.await(deadline)) {
                return call.result();
            }
        } catch (InterruptedException e) {
            call.drop(new IllegalStateException("the caller of " + name() + " was interrupted", e));
            throw e;
        }
        TimeoutException late =
                new TimeoutException(name() + " did not answer within " + deadline.lengthMillis() + " ms");
        call.drop(new IllegalStateException("the caller of " + name() + " gave up", late));
        throw late;
    }

    /** Ends the thread within a few seconds; see {@link #close(Duration)}. */
    @Override
    public void close() {
        close(CLOSE_BOUND);
    }

    /**
     * Ends the device thread. Tasks that have not begun fail with IllegalStateException. If a native call takes longer
     * than the bound, the thread cannot be stopped. It then continues as a daemon thread, and a warning is logged.
     *
     * @return whether the thread has ended; true also if the caller is the device thread, which ends after its current
     *     task
     */
    public boolean close(Duration bound) {
        boolean first = !closed;
        closed = true;
        queue.add(last);
        if (isCurrent()) {
            return true;
        }
        boolean gone = joined(bound);
        failQueued();
        if (!gone && first) {
            LOG.log(
                    Level.WARNING,
                    "{0} is still in a native call {1} ms after its close: the thread keeps running",
                    name(),
                    bound.toMillis());
        }
        return gone;
    }

    private boolean joined(Duration bound) {
        return Deadline.after(bound, clock).awaitQuietly((time, unit) -> {
            unit.timedJoin(thread, time);
            return !thread.isAlive();
        });
    }

    private void run() {
        long napNanos = 0;
        while (!closed) {
            DeviceCall<?> next = next(napNanos);
            if (next != null && next.begin()) {
                issue(next);
            }
            boolean moved = look() || next != null;
            if (moved) {
                lookNaps.reset();
            }
            napNanos = moved ? 0 : lookNaps.next();
        }
        for (DeviceCall<?> call : underWay) {
            call.end(null, closedFailure());
        }
        failQueued();
    }

    /** Waits for the next task and returns it. If a task is in progress, waits at most for the given time. */
    private DeviceCall<?> next(long napNanos) {
        try {
            if (underWay.isEmpty()) {
                return queue.take();
            }
            return napNanos == 0 ? queue.poll() : queue.poll(napNanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // a task has interrupted the thread, which ignores this: only a close ends the thread
            return null;
        }
    }

    private void issue(DeviceCall<?> call) {
        issueNaps.reset();
        while (!call.isIssued()) {
            if (closed) {
                call.end(null, closedFailure());
                return;
            }
            look();
            long napNanos = issueNaps.next();
            if (napNanos > 0) {
                LockSupport.parkNanos(napNanos);
            }
        }
        underWay.add(call);
    }

    /** Polls all tasks in progress. Returns whether one has ended. */
    private boolean look() {
        boolean ended = false;
        for (int i = 0; i < underWay.size(); i++) {
            if (underWay.get(i).isOver()) {
                underWay.remove(i--);
                ended = true;
            }
        }
        return ended;
    }

    private void runNow(DeviceCall<?> call) {
        call.begin();
        if (!call.isIssued() || !call.isOver()) {
            call.end(
                    null,
                    new IllegalStateException("a blocking call was made on " + name()
                            + " itself, inside a group or a task: block after the group or task, on another thread"));
        }
    }

    private void failQueued() {
        for (DeviceCall<?> call = queue.poll(); call != null; call = queue.poll()) {
            call.drop(closedFailure());
        }
    }

    private IllegalStateException closedFailure() {
        return new IllegalStateException(name() + " is closed: its communicator makes no more native calls");
    }
}
