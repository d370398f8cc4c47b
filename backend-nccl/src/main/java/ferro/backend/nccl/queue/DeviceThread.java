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
 * <p>CUDA keeps the current device, and NCCL the depth of its groups, per operating system thread. A virtual thread may
 * change its operating system thread between two calls, and a call into ferro must not change the caller's device.
 * Therefore callers submit a task and wait, with a deadline and interruptibly. A task whose caller stops waiting is
 * cancelled if it has not begun.
 *
 * <p>Work that the library finishes later ({@link DeviceCall#over}) is polled between other tasks, at first without a
 * pause, then less and less often. Thus the thread that has the right device polls the stream, and no other task is
 * blocked.
 *
 * <p>One call allocates two small objects beside itself; a poll allocates nothing.
 */
public final class DeviceThread implements AutoCloseable {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final LongSupplier clock;
    private final Thread thread;
    private final BlockingQueue<DeviceCall<?>> queue = new LinkedBlockingQueue<>();
    /** Task that wakes the thread from a wait for work when the thread must end. */
    private final DeviceCall<Void> last = new OneShotCall<>(() -> null);
    /** Tasks in progress; used by the thread itself only. */
    private final List<DeviceCall<?>> underWay = new ArrayList<>();
    /** Sleeps between polls of the tasks in progress; {@code issueNaps} are between attempts to issue the next task. */
    private final Backoff lookNaps = new Backoff();

    private final Backoff issueNaps = new Backoff();

    /** The thread's current device, or -1 before the first; used by the thread itself only. */
    private int device = -1;

    private volatile boolean closed;

    /** Starts a thread with a name like {@code ferro-<group>-<rank>-nccl}; the clock is monotonic, in nanoseconds. */
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
     * Makes a device current on this thread for the next calls. May be called on the thread itself only.
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

    /** Makes the next {@link #use} set the device again, after a call that may leave another device current. */
    public void forgetDevice() {
        device = -1;
    }

    /** Returns whether only the task that is being issued is in progress. May be called on the thread itself only. */
    public boolean hasNothingElse() {
        return underWay.isEmpty();
    }

    /** Returns whether the caller runs on this thread. */
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /**
     * Submits a task that is complete when its body returns. On the device thread itself, the task runs at once.
     *
     * @throws IllegalStateException if the thread is closed
     */
    public <T> DeviceCall<T> submit(Supplier<T> body) {
        return submit(new OneShotCall<>(body));
    }

    /**
     * Submits a call. On the thread itself the call runs at once, and must finish at once.
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
        // the thread may have emptied the queue for the last time just before the add
        if (closed && (!queued || queue.remove(call))) {
            throw closedFailure();
        }
        return call;
    }

    /**
     * Runs a body on the thread. Waits while the body is in the queue and while the body runs. Returns the body's
     * result, or throws the body's exception.
     *
     * @throws TimeoutException     if the deadline passed; the body never runs, or is stuck
     * @throws InterruptedException if this thread was interrupted; the body never runs, or is still running
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
     * Ends the thread. Tasks that have not begun fail with IllegalStateException. A thread that is in a native call for
     * longer than the bound cannot be stopped. Such a thread continues as a daemon thread, and a warning is logged.
     *
     * @return whether the thread has ended, or will end with its current task (a call from the thread itself)
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

    /** Waits for work. If a task is in progress, waits only for the given time. */
    private DeviceCall<?> next(long napNanos) {
        try {
            if (underWay.isEmpty()) {
                return queue.take();
            }
            return napNanos == 0 ? queue.poll() : queue.poll(napNanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // the interrupt comes from a task; only a close ends the thread
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
