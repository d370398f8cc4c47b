package ferro.backend.nccl;

import ferro.backend.nccl.ffi.Cuda;
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
 * The one platform thread on which the native calls of a communicator are made, in the order in which they were handed over.
 *
 * <p>CUDA keeps the current device, and NCCL the depth of its groups, per thread of the operating system. A virtual thread
 * changes that thread between two calls, and a caller's own choice of device must survive a call into ferro; so callers hand
 * over and wait, with a deadline and interruptibly. What a caller gives up is taken back if it has not begun.
 *
 * <p>Work that the library finishes later ({@link DeviceTask#over}) is looked at between other tasks, at first without a
 * pause, then ever more seldom: a stream is watched by the thread that has the right device, and holds nobody up.
 *
 * <p>One call hands over two small objects and its task; nothing is allocated per look.
 */
final class DeviceThread implements AutoCloseable {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final LongSupplier clock;
    private final Thread thread;
    private final BlockingQueue<DeviceCall<?>> queue = new LinkedBlockingQueue<>();
    /** Wakes the thread out of a wait for work when it shall end. */
    private final DeviceCall<Void> last = new DeviceCall<>(new Once<>(() -> null));
    /** Only the thread itself touches it. */
    private final List<DeviceCall<?>> underWay = new ArrayList<>();
    /** Between looks at what is under way, and between tries to hand over what is next; the same. */
    private final Naps lookNaps = new Naps();

    private final Naps issueNaps = new Naps();

    /** The device that the thread has now, or -1 before the first; only the thread itself touches it. */
    private int device = -1;

    private volatile boolean closed;

    /**
     * Starts the thread.
     *
     * @param name  {@code ferro-<group>-<rank>-nccl}
     * @param clock nanoseconds, monotonic
     */
    DeviceThread(String name, LongSupplier clock) {
        this.clock = clock;
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** A task that is over as soon as it has run. */
    private static final class Once<T> implements DeviceTask<T> {
        private final Supplier<T> body;
        private T result;

        Once(Supplier<T> body) {
            this.body = body;
        }

        @Override
        public boolean issue() {
            result = body.get();
            return true;
        }

        @Override
        public boolean over() {
            return true;
        }

        @Override
        public T result() {
            return result;
        }
    }

    String name() {
        return thread.getName();
    }

    /**
     * Makes a device the current one of this thread, where the next calls go; only on the thread itself.
     *
     * @throws CudaException if there is no such device
     */
    void use(int ordinal) {
        if (!isCurrent()) {
            throw new IllegalStateException(Thread.currentThread().getName() + " asked for device " + ordinal + " of "
                    + name() + ": only that thread may");
        }
        if (ordinal != device) {
            Checks.cuda(Cuda.cudaSetDevice(ordinal), "cudaSetDevice");
            device = ordinal;
        }
    }

    /** Lets the next {@link #use} choose again, after a call that may leave another device current. */
    void forgetDevice() {
        device = -1;
    }

    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /**
     * Hands over a task that is over when it returns; on the thread itself it runs at once.
     *
     * @throws IllegalStateException if the thread is closed
     */
    <T> DeviceCall<T> submit(Supplier<T> body) {
        return submit(new Once<>(body));
    }

    /**
     * Hands over a task; on the thread itself it runs at once, and must be over at once.
     *
     * @throws IllegalStateException if the thread is closed
     */
    <T> DeviceCall<T> submit(DeviceTask<T> task) {
        DeviceCall<T> call = new DeviceCall<>(task);
        if (isCurrent()) {
            runNow(call);
            return call;
        }
        if (!closed) {
            queue.add(call);
        }
        // the thread may have emptied the queue for the last time just before the add
        if (closed && call.drop(closedFailure())) {
            queue.remove(call);
            call.result();
        }
        return call;
    }

    /**
     * Runs a body and waits for it.
     *
     * @param body     runs on the thread
     * @param deadline for getting its turn and for running
     * @return what the body gave; what it throws is thrown here
     * @throws TimeoutException     if the deadline passed; the body never runs, or is stuck
     * @throws InterruptedException if this thread was interrupted; the body never runs, or goes on
     */
    <T> T call(Supplier<T> body, Deadline deadline) throws TimeoutException, InterruptedException {
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
     * Ends the thread. Tasks that have not begun fail with IllegalStateException. A thread that does not come back from a
     * native call is left behind, with a warning: it is a daemon, and cannot be stopped.
     *
     * @param bound how long to wait for the task that runs
     * @return whether the thread has ended, or ends when its present task does (a call from the thread itself)
     */
    boolean close(Duration bound) {
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
                    "{0} is still in a native call {1} ms after its close: the thread is left behind",
                    name(),
                    bound.toMillis());
        }
        return gone;
    }

    private boolean joined(Duration bound) {
        boolean interrupted = false;
        Deadline deadline = Deadline.after(bound, clock);
        while (thread.isAlive() && !deadline.passed()) {
            try {
                thread.join(Math.max(1, Math.min(20, deadline.remainingNanos() / 1_000_000)));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
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
            call.fail(closedFailure());
        }
        failQueued();
    }

    /** Waits for work; only for so long if something is under way. */
    private DeviceCall<?> next(long napNanos) {
        try {
            if (underWay.isEmpty()) {
                return queue.take();
            }
            return napNanos == 0 ? queue.poll() : queue.poll(napNanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // a task left its interrupt behind; the thread ends by close alone
            return null;
        }
    }

    private void issue(DeviceCall<?> call) {
        issueNaps.reset();
        while (!call.issue()) {
            if (closed) {
                call.fail(closedFailure());
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

    /** Looks at all that is under way; returns whether anything has ended. */
    private boolean look() {
        boolean ended = false;
        for (int i = 0; i < underWay.size(); i++) {
            if (underWay.get(i).look()) {
                underWay.remove(i--);
                ended = true;
            }
        }
        return ended;
    }

    private void runNow(DeviceCall<?> call) {
        call.begin();
        if (!call.issue() || !call.look()) {
            call.fail(new IllegalStateException("a call that has to wait was made on " + name()
                    + " itself, inside a group or a task: wait after it, on another thread"));
        }
    }

    private void failQueued() {
        for (DeviceCall<?> call = queue.poll(); call != null; call = queue.poll()) {
            call.drop(closedFailure());
        }
    }

    private IllegalStateException closedFailure() {
        return new IllegalStateException(name() + " is closed: its communicator makes no native call any more");
    }
}
