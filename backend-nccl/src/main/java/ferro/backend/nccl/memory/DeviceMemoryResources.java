package ferro.backend.nccl.memory;

import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.DeviceGuard;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.DeviceCall;
import ferro.backend.nccl.queue.DeviceThread;
import ferro.backend.nccl.queue.EventPool;
import ferro.backend.nccl.queue.StreamFactory;
import ferro.spi.Deadlines;
import ferro.spi.PlainLoggers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The memory resources of one device: a thread on which the device is current, a stream for each direction of copies,
 * and the idle blocks.
 */
final class DeviceMemoryResources {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");
    /**
     * Idle blocks use at most the device's memory divided by this number. The rest is for other users of the runtime.
     */
    private static final int IDLE_SHARE = 8;

    private static final Duration DRAIN_BOUND = Duration.ofSeconds(10);

    private final int device;
    private final Duration timeout;
    private final LongSupplier clock;
    private final DeviceThread thread;
    private final EventPool events = new EventPool();
    /** The streams for copies, by {@code cudaMemcpyKind}. */
    private final CudaStream[] streams = new CudaStream[Cuda.DEVICE_TO_DEVICE + 1];

    /** Number of copies that have begun and not ended; used by the device thread only. */
    private int underWay;

    private MemoryPool pool;
    /**
     * Whether the close has begun; guarded by this object's lock. After this, no work is accepted, because the close
     * would not wait for it.
     */
    private boolean ending;

    private DeviceMemoryResources(int device, Duration timeout, LongSupplier clock) {
        this.device = device;
        this.timeout = timeout;
        this.clock = clock;
        this.thread = new DeviceThread("ferro-memory-" + device, clock);
    }

    /**
     * Starts a thread on a device. The timeout limits each wait, on a monotonic clock in nanoseconds. {@code downgrade}
     * runs for each stream that the runtime refuses.
     *
     * @throws CudaException if the device cannot be used; then nothing is left open
     */
    static DeviceMemoryResources open(int device, Duration timeout, LongSupplier clock, Runnable downgrade) {
        DeviceMemoryResources lane = new DeviceMemoryResources(device, timeout, clock);
        try {
            lane.call("device " + device, () -> {
                lane.start(downgrade);
                return null;
            });
            return lane;
        } catch (RuntimeException e) {
            lane.close();
            throw e;
        }
    }

    private void start(Runnable downgrade) {
        ResultChecker.cuda(Cuda.cudaSetDevice(device), "cudaSetDevice");
        for (int kind = Cuda.HOST_TO_DEVICE; kind <= Cuda.DEVICE_TO_DEVICE; kind++) {
            streams[kind] = StreamFactory.orDefault(device);
            if (!streams[kind].owned()) {
                downgrade.run();
            }
        }
        pool = new MemoryPool(memory()[1] / IDLE_SHARE);
    }

    int device() {
        return device;
    }

    /**
     * Runs a body on the device thread and waits until it has ended. Throws TIMED_OUT, INTERRUPTED, or the body's
     * exception.
     */
    <T> T call(String what, Supplier<T> body) {
        try {
            return thread.call(body, Deadline.after(timeout, clock));
        } catch (TimeoutException e) {
            throw new FerroException(
                    Code.TIMED_OUT,
                    Where.of("", -1),
                    what + " timed out after " + Deadlines.millis(timeout) + " ms: device " + device
                            + " does not answer; ferro.timeout is the limit",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FerroException(
                    Code.INTERRUPTED, Where.of("", -1), what + " was interrupted on device " + device, e);
        }
    }

    /** Starts a copy; see {@link CudaCopy}. */
    CudaCopy copy(RawCopy copy, List<DeviceTensor> tensors, ByteBuffer host) {
        CudaCopy started = new CudaCopy(this, copy, tensors, host);
        thread.submit(started);
        return started;
    }

    Deadline deadline(Duration length) {
        return Deadline.after(length, clock);
    }

    /**
     * Returns a block of at least this size. Calls the runtime only if no block is idle.
     *
     * @throws CudaException RESOURCE if the device has not enough free memory
     */
    MemoryBlock take(long bytes) {
        long classBytes = MemoryPool.classOf(bytes);
        return pool.take(classBytes, () -> call("allocation of " + bytes + " bytes", () -> supply(classBytes)));
    }

    private Void supply(long classBytes) {
        MemoryBlock block = allocate(classBytes);
        if (!pool.supply(block)) {
            free(block);
            throw new IllegalStateException(
                    "device memory was closed during an allocation of " + classBytes + " bytes");
        }
        return null;
    }

    /** Takes a block back, from any thread, even after the close. Before the close, this method does not wait. */
    void giveBack(MemoryBlock block) {
        List<MemoryBlock> surplus = pool.giveBack(block);
        if (!surplus.isEmpty()) {
            later(() -> surplus.forEach(this::free));
        }
    }

    /**
     * Runs a task on the device thread without waiting for the task. The task may wait for all work on the device, as
     * {@code cudaFree} does. If the caller is the device thread, or after the close, the task runs at once. If a
     * collective is stuck, the task's wait ends when the watchdog of the group aborts the collective.
     */
    void later(Runnable body) {
        synchronized (this) {
            if (!ending && !thread.isCurrent()) {
                thread.submit(() -> {
                    body.run();
                    return null;
                });
                return;
            }
        }
        body.run();
    }

    private MemoryBlock allocate(long bytes) {
        long[] pointer = new long[1];
        int code = Cuda.cudaMalloc(pointer, bytes);
        if (code == CudaException.OUT_OF_MEMORY && pool.idleBytes() > 0) {
            Cuda.cudaGetLastError();
            pool.drain().forEach(this::free);
            code = Cuda.cudaMalloc(pointer, bytes);
        }
        if (code != Cuda.SUCCESS) {
            Cuda.cudaGetLastError();
            throw ResultChecker.cudaFailure(code, "cudaMalloc")
                    .during(Where.of("", -1), "GPU alloc of " + bytes + " bytes on device " + device + room());
        }
        return new MemoryBlock(pointer[0], bytes, null);
    }

    /** Returns a text about the free memory of the device, for a message; empty if the runtime does not report it. */
    private String room() {
        try {
            long[] memory = memory();
            return " (" + memory[0] + " of " + memory[1] + " bytes free)";
        } catch (CudaException e) {
            return "";
        }
    }

    private static long[] memory() {
        long[] free = new long[1];
        long[] total = new long[1];
        ResultChecker.cuda(Cuda.cudaMemGetInfo(free, total), "cudaMemGetInfo");
        return new long[] {free[0], total[0]};
    }

    private void free(MemoryBlock block) {
        quietly("cudaFree", () -> Cuda.cudaFree(block.address()));
    }

    /** Makes a call whose failure is only logged, since no caller can react to it. */
    private void quietly(String call, IntSupplier body) {
        try {
            ResultChecker.cuda(DeviceGuard.call(device, body), call);
        } catch (CudaException e) {
            LOG.log(Level.WARNING, call + " failed on device " + device, e);
        }
    }

    // the methods below run on the device thread

    /**
     * Queues a copy on the stream of its kind. The copy starts after the work that is now on the default stream.
     * Returns the event that completes when the copy is complete.
     */
    long issue(RawCopy copy) {
        long stream = streams[copy.kind()].handle();
        events.order(Cuda.DEFAULT_STREAM, stream);
        ResultChecker.cuda(
                Cuda.cudaMemcpyAsync(copy.to(), copy.from(), copy.bytes(), copy.kind(), stream),
                "cudaMemcpyAsync " + copy.direction());
        long done = events.record(stream);
        underWay++;
        return done;
    }

    /** Polls whether a copy is complete. Gives the event back when the copy is complete or has failed. */
    boolean passed(long event) {
        boolean over = true;
        try {
            over = events.passed(event);
            return over;
        } finally {
            if (over) {
                underWay--;
                events.giveBack(event);
            }
        }
    }

    /**
     * Frees the idle blocks and ends the device thread. Blocks that are given back later are freed at once. Waits for
     * the device for at most twenty-five seconds. If a collective is stuck, the device is busy until the watchdog of
     * the group aborts the collective.
     *
     * @return false if copies are still in progress; their memory and streams are then not freed
     */
    boolean close() {
        synchronized (this) {
            ending = true;
        }
        List<MemoryBlock> idle = pool == null ? List.of() : pool.close();
        boolean quiet = thread.submit(new CopyWaitCall()).awaitQuietly(Deadline.after(DRAIN_BOUND, clock));
        if (quiet) {
            thread.submit(() -> release(idle)).awaitQuietly(Deadline.after(DRAIN_BOUND, clock));
        } else {
            LOG.log(
                    Level.WARNING,
                    "copies on device {0} are still in flight {1} ms after the close: their memory is freed when the process ends",
                    device,
                    DRAIN_BOUND.toMillis());
        }
        thread.close();
        return quiet;
    }

    private Void release(List<MemoryBlock> idle) {
        idle.forEach(this::free);
        releaseStreams();
        return null;
    }

    private void releaseStreams() {
        for (CudaStream stream : streams) {
            if (stream != null) {
                stream.close();
            }
        }
        try {
            events.close();
        } catch (CudaException e) {
            LOG.log(Level.WARNING, "events of device " + device + " could not be freed", e);
        }
    }

    /** A call that ends when all copies of this device have ended. */
    private final class CopyWaitCall extends DeviceCall<Void> {
        @Override
        protected boolean issue() {
            return true;
        }

        @Override
        protected boolean over() {
            return underWay == 0;
        }
    }
}
