package ferro.backend.nccl.memory;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.DeviceGuard;
import ferro.backend.nccl.ffi.PointerConverter;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.dispatch.DeviceMemory;
import ferro.spi.Deadlines;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory of CUDA or HIP devices, with a pool and a thread for each device that is used.
 *
 * <p>A block returns to its pool when the owner of its tensor is closed, and may be reused at once. The reuse is safe
 * for work on the default stream. It is also safe for every call of ferro, because each call starts after the work that
 * is on the default stream. A caller that uses another stream must wait for that stream before it closes the owner.
 *
 * <p>Staging memory that is in use when this object is closed stays valid until the staging memory itself is closed.
 * The thread of a device frees memory of the device, since {@code cudaFree} waits for all work on the device. If a
 * collective is stuck, the free delays allocations and copies on that device, but not the caller of a close. The delay
 * ends when the watchdog of the group aborts the collective at its deadline. An allocation that waits meanwhile fails
 * after {@code ferro.timeout}.
 */
public final class CudaMemory implements DeviceMemory {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");
    /** {@code cudaHostAllocPortable}: the memory is pinned for every device. */
    private static final int PORTABLE = 1;
    /** Maximum number of idle pinned bytes, because pinned memory reduces the memory of all processes. */
    private static final long MOST_IDLE_HOST_BYTES = 1L << 28;

    /** A copy of zero bytes, which is always complete. */
    private static final Copy NOTHING_TO_COPY = timeout -> true;

    private final int deviceCount;
    private final int ownDevice;
    private final Duration timeout;
    private final RankContext context;
    private final AtomicInteger downgrades = new AtomicInteger();
    private final AtomicInteger refusedPins = new AtomicInteger();
    private final MemoryPool hostPool = new MemoryPool(MOST_IDLE_HOST_BYTES);
    private final Map<Integer, DeviceMemoryResources> lanes = new ConcurrentHashMap<>();
    private volatile boolean closed;
    /**
     * Whether copies were still in progress after the close. Such copies may use any pinned block, so pinned blocks are
     * no longer freed.
     */
    private volatile boolean pinnedIsLeft;

    private CudaMemory(RankContext context, int deviceCount, int ownDevice) {
        this.context = context;
        this.deviceCount = deviceCount;
        this.ownDevice = ownDevice;
        this.timeout = Deadlines.ofCalls(context);
    }

    /**
     * Opens the memory of all devices. A device is not used before the first call that names it.
     *
     * @throws CudaException if the runtime does not report the number of devices
     */
    public static CudaMemory open(RankContext context) {
        int[] count = new int[1];
        ResultChecker.cuda(Cuda.cudaGetDeviceCount(count), "cudaGetDeviceCount");
        int local = Settings.NCCL_DEVICE
                .find(context)
                .or(() -> Settings.LOCAL_RANK.find(context))
                .orElse(0);
        return new CudaMemory(context, count[0], local < count[0] ? local : 0);
    }

    @Override
    public DeviceTensor allocate(DataType dataType, long[] shape, int device) {
        DeviceTensor wanted = new DeviceTensor(dataType, shape, 0, device, null);
        DeviceMemoryResources lane = lane(device);
        String what = "device tensor " + wanted;
        if (wanted.byteCount() == 0) {
            return new DeviceTensor(dataType, shape, 0, device, MemoryLease.of(() -> {}, what));
        }
        MemoryBlock block = lane.take(wanted.byteCount());
        MemoryLease lease = MemoryLease.of(() -> lane.giveBack(block), what);
        return new DeviceTensor(dataType, shape, block.address(), device, lease);
    }

    @Override
    public Staging stage(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("cannot stage " + bytes + " bytes");
        }
        DeviceMemoryResources lane = lane(ownDevice);
        MemoryBlock block = takeHost(lane, bytes);
        return new HostStaging(
                block.host().slice(0, bytes).order(ByteOrder.nativeOrder()),
                block.address() != 0,
                MemoryLease.of(() -> giveBackHost(lane, block), "staging memory of " + bytes + " bytes"));
    }

    /** Host memory for fast copies. The memory is valid until this object is closed. */
    private record HostStaging(ByteBuffer buffer, boolean pinned, MemoryLease lease) implements Staging {
        @Override
        public void close() {
            lease.close();
        }
    }

    private MemoryBlock takeHost(DeviceMemoryResources lane, int bytes) {
        int classBytes = (int) Math.min(MemoryPool.classOf(bytes), Integer.MAX_VALUE);
        return hostPool.take(
                classBytes, () -> lane.call("staging of " + bytes + " bytes", () -> supplyHost(classBytes)));
    }

    private Void supplyHost(int bytes) {
        MemoryBlock block = pin(bytes);
        if (!hostPool.supply(block)) {
            freeHost(block);
            throw new IllegalStateException("device memory was closed during a staging of " + bytes + " bytes");
        }
        return null;
    }

    /**
     * Allocates pinned memory, on a thread that has a current device. If the runtime refuses to pin memory, allocates
     * plain memory, with which copies are slower.
     */
    private MemoryBlock pin(int bytes) {
        long[] pointer = new long[1];
        int code = Cuda.cudaHostAlloc(pointer, bytes, PORTABLE);
        if (code == Cuda.SUCCESS) {
            return new MemoryBlock(pointer[0], bytes, PointerConverter.view(pointer[0], bytes));
        }
        Cuda.cudaGetLastError();
        if (refusedPins.getAndIncrement() == 0) {
            LOG.log(
                    Level.WARNING,
                    "cannot pin host memory: copies use memory that is not pinned, and are slower: {0}",
                    ResultChecker.cudaFailure(code, "cudaHostAlloc").getMessage());
        }
        return new MemoryBlock(0, bytes, ByteBuffer.allocateDirect(bytes));
    }

    private void giveBackHost(DeviceMemoryResources lane, MemoryBlock block) {
        List<MemoryBlock> surplus = hostPool.giveBack(block);
        if (!surplus.isEmpty()) {
            lane.later(() -> surplus.forEach(this::freeHost));
        }
    }

    /** Frees pinned memory. Does nothing for plain memory, which the JVM frees. */
    private void freeHost(MemoryBlock block) {
        if (block.address() == 0 || pinnedIsLeft) {
            return;
        }
        try {
            ResultChecker.cuda(DeviceGuard.call(ownDevice, () -> Cuda.cudaFreeHost(block.address())), "cudaFreeHost");
        } catch (CudaException e) {
            LOG.log(Level.WARNING, "pinned memory of device " + ownDevice + " could not be freed", e);
        }
    }

    @Override
    public Copy toHost(DeviceTensor from, ByteBuffer to) {
        if (to.isReadOnly()) {
            throw new IllegalArgumentException(
                    "cannot copy to a read-only buffer of " + to.remaining() + " bytes", new ReadOnlyBufferException());
        }
        return start(from, new RawCopy(checked(from, to), from.address(), from.byteCount(), Cuda.DEVICE_TO_HOST), to);
    }

    @Override
    public Copy toDevice(ByteBuffer from, DeviceTensor to) {
        long address = checked(to, from);
        return start(to, new RawCopy(to.address(), address, to.byteCount(), Cuda.HOST_TO_DEVICE), from);
    }

    @Override
    public Copy onDevice(DeviceTensor from, DeviceTensor to) {
        if (from.device() != to.device()
                || from.dataType() != to.dataType()
                || from.elementCount() != to.elementCount()) {
            throw new IllegalArgumentException(
                    "cannot copy " + from + " to " + to + ": need the same device, type and length");
        }
        checkAddress(from);
        checkAddress(to);
        RawCopy copy = new RawCopy(to.address(), from.address(), to.byteCount(), Cuda.DEVICE_TO_DEVICE);
        return copy.bytes() == 0 ? NOTHING_TO_COPY : lane(to.device()).copy(copy, List.of(from, to), null);
    }

    private Copy start(DeviceTensor tensor, RawCopy copy, ByteBuffer host) {
        return copy.bytes() == 0 ? NOTHING_TO_COPY : lane(tensor.device()).copy(copy, List.of(tensor), host);
    }

    private static long checked(DeviceTensor tensor, ByteBuffer host) {
        if (host.remaining() != tensor.byteCount()) {
            throw new IllegalArgumentException("a copy must fill both sides: " + tensor + " has " + tensor.byteCount()
                    + " bytes, the buffer " + host.remaining());
        }
        checkAddress(tensor);
        return PointerConverter.address(host);
    }

    private static void checkAddress(DeviceTensor tensor) {
        if (tensor.address() == 0 && tensor.elementCount() > 0) {
            throw new IllegalArgumentException(tensor + " has " + tensor.elementCount() + " elements at address 0");
        }
    }

    private DeviceMemoryResources lane(int device) {
        DeviceMemoryResources lane = closed ? null : lanes.get(device);
        return lane == null ? open(device) : lane;
    }

    private synchronized DeviceMemoryResources open(int device) {
        if (closed) {
            throw new IllegalStateException("device memory is closed, so it cannot use device " + device);
        }
        if (device < 0 || device >= deviceCount) {
            throw new IllegalArgumentException("no device " + device + ": this machine has " + deviceCount);
        }
        return lanes.computeIfAbsent(
                device,
                ordinal ->
                        DeviceMemoryResources.open(ordinal, timeout, context::nanoTime, downgrades::incrementAndGet));
    }

    /** Returns how many streams the runtime refused to create. */
    int downgrades() {
        return downgrades.get();
    }

    /** Returns how many pinned blocks the runtime refused. */
    int refusedPins() {
        return refusedPins.get();
    }

    @Override
    public void close() {
        List<DeviceMemoryResources> open;
        synchronized (this) {
            closed = true;
            open = List.copyOf(lanes.values());
            lanes.clear();
        }
        boolean quiet = true;
        for (DeviceMemoryResources lane : open) {
            quiet &= lane.close();
        }
        pinnedIsLeft = !quiet;
        // blocks that are in use are freed later, when they are given back
        hostPool.close().forEach(this::freeHost);
    }
}
