package ferro.backend.nccl;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.ffi.Cuda;
import ferro.spi.Deadlines;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What device memory needs of one device: the thread that has it as its current device, a stream per direction, and the blocks
 * that nobody uses now.
 */
final class DeviceLane {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    /** Of a device's memory may lie idle here; the rest belongs to those who ask the runtime themselves. */
    private static final int IDLE_SHARE = 8;

    private static final Duration DRAIN_BOUND = Duration.ofSeconds(10);

    private final int device;
    private final Duration timeout;
    private final LongSupplier clock;
    private final DeviceThread thread;
    private final EventPool events = new EventPool();
    /** By kind of copy. */
    private final CudaStream[] streams = new CudaStream[Cuda.DEVICE_TO_DEVICE + 1];

    /** Copies that have begun and not ended; only the thread itself touches it. */
    private int underWay;

    private MemoryPool<DeviceBlock> pool;
    /** Guarded by the lane: nothing is handed over any more that the end would not wait for. */
    private boolean ending;

    private DeviceLane(int device, Duration timeout, LongSupplier clock) {
        this.device = device;
        this.timeout = timeout;
        this.clock = clock;
        this.thread = new DeviceThread("ferro-memory-" + device, clock);
    }

    /**
     * Starts a thread on a device.
     *
     * @param device    ordinal
     * @param timeout   for everything that is waited for
     * @param clock     nanoseconds, monotonic
     * @param downgrade told of each stream that the runtime refused
     * @throws CudaException if the device cannot be used; nothing is left then
     */
    static DeviceLane open(int device, Duration timeout, LongSupplier clock, Runnable downgrade) {
        DeviceLane lane = new DeviceLane(device, timeout, clock);
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
        Checks.cuda(Cuda.cudaSetDevice(device), "cudaSetDevice");
        for (int kind = Cuda.HOST_TO_DEVICE; kind <= Cuda.DEVICE_TO_DEVICE; kind++) {
            streams[kind] = CudaStream.orDefault(device, refusal -> downgrade.run());
        }
        pool = new MemoryPool<>(memory()[1] / IDLE_SHARE, DeviceBlock::bytes);
    }

    int device() {
        return device;
    }

    /**
     * Runs a body on the thread and waits for it.
     *
     * @param what for messages
     * @throws FerroException TIMED_OUT or INTERRUPTED, or what the body throws
     */
    <T> T call(String what, Supplier<T> body) {
        try {
            return thread.call(body, Deadline.after(timeout, clock));
        } catch (TimeoutException e) {
            throw new FerroException(
                    Code.TIMED_OUT,
                    Where.outside("", -1),
                    what + " timed out after " + Deadlines.millis(timeout) + " ms: device " + device
                            + " does not answer; ferro.timeout is the limit",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FerroException(
                    Code.INTERRUPTED, Where.outside("", -1), what + " was interrupted on device " + device, e);
        }
    }

    /** Hands over a copy. */
    DeviceCall<Void> start(DeviceTask<Void> copy) {
        return thread.submit(copy);
    }

    Deadline deadline(Duration length) {
        return Deadline.after(length, clock);
    }

    /**
     * Takes a block of at least so many bytes; asks the runtime only if none is idle.
     *
     * @throws CudaException RESOURCE if the device is full
     */
    DeviceBlock take(long bytes) {
        long classBytes = MemoryPool.classOf(bytes);
        DeviceBlock block = pool.take(classBytes);
        while (block == null) {
            call("allocation of " + bytes + " bytes", () -> supply(classBytes));
            block = pool.take(classBytes);
        }
        return block;
    }

    private Void supply(long classBytes) {
        DeviceBlock block = allocate(classBytes);
        if (!pool.supply(block)) {
            free(block);
            throw new IllegalStateException(
                    "device memory was closed during an allocation of " + classBytes + " bytes");
        }
        return null;
    }

    /** Takes a block back, from any thread, also after the end; waits for nothing before that. */
    void giveBack(DeviceBlock block) {
        List<DeviceBlock> surplus = pool.giveBack(block);
        if (!surplus.isEmpty()) {
            later(() -> surplus.forEach(this::free));
        }
    }

    /**
     * Runs on the thread what may wait for the whole device, as {@code cudaFree} does, without waiting for it; on the thread
     * itself and after its end at once. Where a collective is stuck, the abort by its group's watchdog is what ends that wait.
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

    private DeviceBlock allocate(long bytes) {
        long[] pointer = new long[1];
        int code = Cuda.cudaMalloc(pointer, bytes);
        if (code == CudaException.OUT_OF_MEMORY && pool.idleBytes() > 0) {
            Cuda.cudaGetLastError();
            pool.drain().forEach(this::free);
            code = Cuda.cudaMalloc(pointer, bytes);
        }
        if (code != Cuda.SUCCESS) {
            Cuda.cudaGetLastError();
            throw Checks.cudaFailure(code, "cudaMalloc")
                    .during(Where.outside("", -1), "GPU alloc of " + bytes + " bytes on device " + device + room());
        }
        return new DeviceBlock(pointer[0], bytes);
    }

    /** Returns what is free, for a message; nothing if the runtime does not say. */
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
        Checks.cuda(Cuda.cudaMemGetInfo(free, total), "cudaMemGetInfo");
        return new long[] {free[0], total[0]};
    }

    private void free(DeviceBlock block) {
        quietly("cudaFree", () -> Cuda.cudaFree(block.address()));
    }

    /** Makes a call that nobody can do anything about if it fails. */
    private void quietly(String call, IntSupplier body) {
        try {
            Checks.cuda(DeviceGuard.call(device, body), call);
        } catch (CudaException e) {
            LOG.log(Level.WARNING, call + " failed on device " + device, e);
        }
    }

    // what follows runs on the thread

    /**
     * Puts a copy on the stream of its kind, after what the default stream holds now.
     *
     * @return event that passes when it is done, for {@link #passed}
     */
    long issue(RawCopy copy) {
        long stream = streams[copy.kind()].handle();
        long ready = events.record(Cuda.DEFAULT_STREAM);
        // the wait is for what the event marks now, so it may be recorded again at once
        events.giveBack(ready);
        Checks.cuda(Cuda.cudaStreamWaitEvent(stream, ready, 0), "cudaStreamWaitEvent");
        Checks.cuda(
                Cuda.cudaMemcpyAsync(copy.to(), copy.from(), copy.bytes(), copy.kind(), stream),
                "cudaMemcpyAsync " + copy.direction());
        long done = events.record(stream);
        underWay++;
        return done;
    }

    /** Looks whether a copy is done; its event is given back when it is, or has failed. */
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
     * Frees what is idle and ends the thread; blocks that come back later are freed at once. Waits for the device, which a
     * stuck collective holds up until its group's watchdog aborts it, and gives up after twenty-five seconds.
     *
     * @return false if copies are still under way; what they use is left alone
     */
    boolean close() {
        synchronized (this) {
            ending = true;
        }
        List<DeviceBlock> idle = pool == null ? List.of() : pool.close();
        boolean quiet = thread.submit(new Drain()).awaitQuietly(Deadline.after(DRAIN_BOUND, clock));
        if (quiet) {
            thread.submit(() -> release(idle)).awaitQuietly(Deadline.after(DRAIN_BOUND, clock));
        } else {
            LOG.log(
                    Level.WARNING,
                    "copies on device {0} are under way {1} ms after the close: their memory is left to the process",
                    device,
                    DRAIN_BOUND.toMillis());
        }
        thread.close();
        return quiet;
    }

    private Void release(List<DeviceBlock> idle) {
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

    /** Over when all copies are. */
    private final class Drain implements DeviceTask<Void> {
        @Override
        public boolean issue() {
            return true;
        }

        @Override
        public boolean over() {
            return underWay == 0;
        }

        @Override
        public Void result() {
            return null;
        }
    }
}
