package ferro.backend.nccl;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.HostMemory;
import ferro.dispatch.DeviceMemory;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory of CUDA or HIP devices, pooled, with one thread per device that is used.
 *
 * <p>A block goes back to its pool when its tensor's owner is closed, and may be handed out again at once. That is safe for work
 * on the default stream and for every call of ferro, which begin after it; whoever uses a stream of his own waits for it
 * before he closes.
 *
 * <p>Staging memory that is lent out when this is closed stays good until its own close. What goes back to the runtime goes on
 * the thread of its device, since {@code cudaFree} waits for everything on that device: behind a collective that is stuck it
 * holds up allocations and copies of that device, not the caller of a close, until the watchdog of the group has aborted at
 * the deadline; an allocation meanwhile fails by {@code ferro.timeout}.
 */
final class CudaMemory implements DeviceMemory {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    /** {@code cudaHostAllocPortable}: pinned for every device. */
    private static final int PORTABLE = 1;
    /** Pinned memory is taken from everybody's; more than this is not kept idle. */
    private static final long MOST_IDLE_HOST_BYTES = 1L << 28;

    private final int deviceCount;
    private final int home;
    private final Duration timeout;
    private final RankContext context;
    private final AtomicInteger downgrades = new AtomicInteger();
    private final AtomicInteger refusedPins = new AtomicInteger();
    private final MemoryPool<HostBlock> hostPool = new MemoryPool<>(MOST_IDLE_HOST_BYTES, HostBlock::bytes);
    private final Map<Integer, DeviceLane> lanes = new ConcurrentHashMap<>();
    private volatile boolean closed;
    /** Copies were under way at the end, and may use any pinned block for ever. */
    private volatile boolean pinnedIsLeft;

    private CudaMemory(RankContext context, int deviceCount, int home) {
        this.context = context;
        this.deviceCount = deviceCount;
        this.home = home;
        this.timeout = Settings.TIMEOUT.of(context);
    }

    /**
     * Opens the memory of all devices; touches none of them before its first use.
     *
     * @param context settings and clock
     * @return memory
     * @throws CudaException if devices cannot be counted
     */
    static CudaMemory open(RankContext context) {
        int[] count = new int[1];
        Checks.cuda(Cuda.cudaGetDeviceCount(count), "cudaGetDeviceCount");
        int local = Settings.NCCL_DEVICE
                .find(context)
                .or(() -> Settings.LOCAL_RANK.find(context))
                .orElse(0);
        return new CudaMemory(context, count[0], local < count[0] ? local : 0);
    }

    @Override
    public DeviceTensor allocate(DataType dataType, long[] shape, int device) {
        DeviceTensor wanted = new DeviceTensor(dataType, shape, 0, device, null);
        DeviceLane lane = lane(device);
        String what = "device tensor " + wanted;
        if (wanted.byteCount() == 0) {
            return new DeviceTensor(dataType, shape, 0, device, MemoryLease.of(() -> {}, what));
        }
        DeviceBlock block = lane.take(wanted.byteCount());
        MemoryLease lease = MemoryLease.of(() -> lane.giveBack(block), what);
        return new DeviceTensor(dataType, shape, block.address(), device, lease);
    }

    @Override
    public Staging stage(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("cannot stage " + bytes + " bytes");
        }
        DeviceLane lane = lane(home);
        HostBlock block = takeHost(lane, bytes);
        return new HostStaging(block, bytes, () -> giveBackHost(lane, block));
    }

    private HostBlock takeHost(DeviceLane lane, int bytes) {
        int classBytes = (int) Math.min(MemoryPool.classOf(bytes), Integer.MAX_VALUE);
        HostBlock block = hostPool.take(classBytes);
        while (block == null) {
            lane.call("staging of " + bytes + " bytes", () -> supplyHost(classBytes));
            block = hostPool.take(classBytes);
        }
        return block;
    }

    private Void supplyHost(int bytes) {
        HostBlock block = pin(bytes);
        if (!hostPool.supply(block)) {
            freeHost(block);
            throw new IllegalStateException("device memory was closed during a staging of " + bytes + " bytes");
        }
        return null;
    }

    /** Runs on a thread that has a device; refused pinning costs speed, not the call. */
    private HostBlock pin(int bytes) {
        long[] pointer = new long[1];
        int code = Cuda.cudaHostAlloc(pointer, bytes, PORTABLE);
        if (code == Cuda.SUCCESS) {
            return new HostBlock(HostMemory.view(pointer[0], bytes), pointer[0]);
        }
        Cuda.cudaGetLastError();
        if (refusedPins.getAndIncrement() == 0) {
            LOG.log(
                    Level.WARNING,
                    "pinned host memory is refused, plain memory serves and copies are slower: {0}",
                    Checks.cudaFailure(code, "cudaHostAlloc").getMessage());
        }
        return new HostBlock(ByteBuffer.allocateDirect(bytes), 0);
    }

    private void giveBackHost(DeviceLane lane, HostBlock block) {
        List<HostBlock> surplus = hostPool.giveBack(block);
        if (!surplus.isEmpty()) {
            lane.later(() -> surplus.forEach(this::freeHost));
        }
    }

    /** Frees pinned memory; plain memory is the JVM's. */
    private void freeHost(HostBlock block) {
        if (!block.pinned() || pinnedIsLeft) {
            return;
        }
        try {
            Checks.cuda(DeviceGuard.call(home, () -> Cuda.cudaFreeHost(block.address())), "cudaFreeHost");
        } catch (CudaException e) {
            LOG.log(Level.WARNING, "pinned memory of device " + home + " could not be freed", e);
        }
    }

    @Override
    public Copy toHost(DeviceTensor from, ByteBuffer to) {
        if (to.isReadOnly()) {
            throw new IllegalArgumentException(
                    "cannot copy to a read-only buffer of " + to.remaining() + " bytes", new ReadOnlyBufferException());
        }
        long address = checked(from, to);
        return start(from, new RawCopy(address, from.address(), from.byteCount(), Cuda.DEVICE_TO_HOST), to);
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
        return copy.bytes() == 0 ? Done.COPY : CudaCopy.start(lane(to.device()), copy, List.of(from, to), null);
    }

    private Copy start(DeviceTensor tensor, RawCopy copy, ByteBuffer host) {
        return copy.bytes() == 0 ? Done.COPY : CudaCopy.start(lane(tensor.device()), copy, List.of(tensor), host);
    }

    private static long checked(DeviceTensor tensor, ByteBuffer host) {
        if (host.remaining() != tensor.byteCount()) {
            throw new IllegalArgumentException("a copy must fill both sides: " + tensor + " has " + tensor.byteCount()
                    + " bytes, the buffer " + host.remaining());
        }
        checkAddress(tensor);
        return HostMemory.address(host);
    }

    private static void checkAddress(DeviceTensor tensor) {
        if (tensor.address() == 0 && tensor.elementCount() > 0) {
            throw new IllegalArgumentException(tensor + " has " + tensor.elementCount() + " elements at address 0");
        }
    }

    /** What copies nothing is done. */
    private enum Done implements Copy {
        COPY;

        @Override
        public boolean await(Duration timeout) {
            return true;
        }
    }

    private DeviceLane lane(int device) {
        DeviceLane lane = closed ? null : lanes.get(device);
        return lane == null ? open(device) : lane;
    }

    private synchronized DeviceLane open(int device) {
        if (closed) {
            throw new IllegalStateException("device memory is closed, device " + device + " cannot be used by it");
        }
        if (device < 0 || device >= deviceCount) {
            throw new IllegalArgumentException("no device " + device + ": this machine has " + deviceCount);
        }
        return lanes.computeIfAbsent(
                device, ordinal -> DeviceLane.open(ordinal, timeout, context::nanoTime, downgrades::incrementAndGet));
    }

    /** Returns how many streams of our own the runtime refused. */
    int downgrades() {
        return downgrades.get();
    }

    /** Returns how many pinned blocks the runtime refused. */
    int refusedPins() {
        return refusedPins.get();
    }

    @Override
    public void close() {
        List<DeviceLane> open;
        synchronized (this) {
            closed = true;
            open = List.copyOf(lanes.values());
            lanes.clear();
        }
        boolean quiet = true;
        for (DeviceLane lane : open) {
            quiet &= lane.close();
        }
        pinnedIsLeft = !quiet;
        // lent blocks are freed when they come back
        hostPool.close().forEach(this::freeHost);
    }
}
