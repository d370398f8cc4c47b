package ferro.tck;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Simulated devices for tests without a GPU. The addresses of tensors are not valid pointers. Copies run as late as the
 * contract of {@link DeviceMemory} allows.
 *
 * <p>A copy runs when a thread waits for the copy. Copies of one direction on one device run in the order of their
 * start. After {@link #copyOnThread}, copies run on a separate thread with a delay. A caller that does not wait for a
 * copy, or that uses the source or target of a copy too early, therefore sees wrong data.
 *
 * <p>{@link #failCopy}, {@link #refuseCopy}, {@link #stallCopy}, {@link #refusePinning}, {@link #capacity} and
 * {@link #stagingCapacity} inject faults. Counters and {@link #watch} report the copies. {@link #assertNothingLeft}
 * reports memory that was not freed and copies that have not run.
 *
 * <p>This class is not registered as a Java service. A test registers the memory in the context of a rank before the
 * first use: {@code context.shared(DeviceMemory.class, heap::opened)}. All ranks of a test may share one memory. Each
 * rank calls {@link #opened}, and a close of the result does not affect the other ranks. Instances are thread-safe.
 */
public final class HeapDeviceMemory implements DeviceMemory {
    /** Delay until a stalled copy is tried again on the copy thread. */
    private static final Duration STALLED = Duration.ofMillis(1);

    private final int devices;
    private final HeapDevicePages blocks = new HeapDevicePages();
    private final Map<List<Object>, Deque<HeapDeviceCopy>> running = new HashMap<>();
    private final EnumMap<Direction, long[]> counts = new EnumMap<>(Direction.class);
    private final Map<List<Object>, CopyFault> faults = new HashMap<>();
    private Consumer<CopyEvent> watcher = event -> {};
    private boolean pins = true;
    private long capacityBytes = Long.MAX_VALUE;
    private long stagingCapacityBytes = Long.MAX_VALUE;
    private int stagings;
    private long stagingBytes;
    private long peakStagingBytes;
    private Duration delay;
    private ScheduledExecutorService thread;

    /** The direction of a copy. */
    public enum Direction {
        /** A copy from a device to the host. */
        TO_HOST,
        /** A copy from the host to a device. */
        TO_DEVICE,
        /** A copy between tensors of one device. */
        ON_DEVICE
    }

    enum CopyFault {
        FAIL,
        REFUSE,
        STALL
    }

    /** An event of {@link #watch}, which reports the start or the end of a copy. */
    public static final class CopyEvent {
        private final Event event;

        private record Event(Direction direction, int device, long bytes, long number, boolean ended) {}

        private CopyEvent(Direction direction, int device, long bytes, long number, boolean ended) {
            event = new Event(direction, device, bytes, number, ended);
        }

        /** {@return the direction of the copy} */
        public Direction direction() {
            return event.direction;
        }

        /** {@return the ordinal of the device} */
        public int device() {
            return event.device;
        }

        /** {@return the size of the copy in bytes} */
        public long bytes() {
            return event.bytes;
        }

        /** {@return the number of the copy in its direction, from 1} */
        public long number() {
            return event.number;
        }

        /** {@return whether the event is the end of the copy} The copy has then run. */
        public boolean ended() {
            return event.ended;
        }

        @Override
        public String toString() {
            return "Copy" + event;
        }
    }

    /**
     * Creates devices with the ordinals 0 to {@code devices - 1}.
     *
     * @param devices number of devices
     */
    public HeapDeviceMemory(int devices) {
        this.devices = devices;
        for (Direction direction : Direction.values()) {
            counts.put(direction, new long[2]);
        }
    }

    /** {@return a view of the same devices for one rank. A close of the view does not affect other ranks} */
    public DeviceMemory opened() {
        return new HeapDeviceMemoryView(this);
    }

    /**
     * Runs later copies on a separate thread, with a delay. {@link #close} stops the thread.
     *
     * @param delay minimum time between the start of a copy and its run
     * @return this device memory
     */
    public synchronized HeapDeviceMemory copyOnThread(Duration delay) {
        if (thread == null) {
            this.delay = delay;
            thread = Executors.newSingleThreadScheduledExecutor(task -> {
                Thread made = new Thread(task, "ferro-tck-heap-copies");
                made.setDaemon(true);
                return made;
            });
        }
        return this;
    }

    /**
     * Makes one copy fail. The {@code await} of the failed copy throws a {@link FerroException} of code NATIVE.
     *
     * @param direction direction of the copy
     * @param nth       number of the copy in its direction; 1 is the next copy
     */
    public synchronized void failCopy(Direction direction, int nth) {
        faults.put(List.of(direction, counts.get(direction)[0] + nth), CopyFault.FAIL);
    }

    /**
     * Makes the start of one copy throw a {@link FerroException} of code NATIVE.
     *
     * @param direction direction of the copy
     * @param nth       number of the copy in its direction; 1 is the next copy
     */
    public synchronized void refuseCopy(Direction direction, int nth) {
        faults.put(List.of(direction, counts.get(direction)[0] + nth), CopyFault.REFUSE);
    }

    /**
     * Stalls one copy until {@link #endStalledCopies}. Later copies of the same direction and device wait behind the
     * stalled copy.
     *
     * @param direction direction of the copy
     * @param nth       number of the copy in its direction; 1 is the next copy
     */
    public synchronized void stallCopy(Direction direction, int nth) {
        faults.put(List.of(direction, counts.get(direction)[0] + nth), CopyFault.STALL);
    }

    /** Lets stalled copies run, and cancels the stalls of copies that have not been started. */
    public synchronized void endStalledCopies() {
        faults.values().removeIf(fault -> fault == CopyFault.STALL);
        running.values().forEach(queue -> queue.forEach(HeapDeviceCopy::endStall));
        notifyAll();
    }

    /** Makes later calls of {@link #stage} return memory that is not pinned. */
    public synchronized void refusePinning() {
        pins = false;
    }

    /**
     * Limits the staging memory. An allocation above the limit fails with a {@link FerroException} of code RESOURCE.
     *
     * @param bytes maximum bytes of all staging memory
     */
    public synchronized void stagingCapacity(long bytes) {
        stagingCapacityBytes = bytes;
    }

    /**
     * Limits the total memory of all devices. An allocation above the limit fails with a {@link FerroException} of code
     * RESOURCE.
     *
     * @param bytes maximum bytes of all devices
     */
    public synchronized void capacity(long bytes) {
        capacityBytes = bytes;
    }

    /**
     * Reports every start and every end of a copy to a listener, in the order of these events. The device memory is
     * locked while the listener runs.
     *
     * @param listener receives the events
     */
    public synchronized void watch(Consumer<CopyEvent> listener) {
        watcher = listener;
    }

    /**
     * Allocates a tensor and writes elements into it. The access does not count as a copy.
     *
     * @param elements content of the tensor
     * @param device   ordinal of the device
     * @param shape    lengths of the dimensions; an empty array means the shape of {@code elements}
     * @return tensor; a close of its owner frees the memory
     */
    public DeviceTensor upload(HostTensor elements, int device, long... shape) {
        DeviceTensor tensor = allocate(elements.dataType(), shape.length == 0 ? elements.shape() : shape, device);
        write(elements, tensor);
        return tensor;
    }

    /**
     * Writes elements into a tensor. The access does not count as a copy.
     *
     * @param elements elements with the type and length of the tensor
     * @param tensor   tensor to write
     */
    public synchronized void write(HostTensor elements, DeviceTensor tensor) {
        blocks.check(tensor);
        ByteBuffer bytes = direct(Math.toIntExact(elements.byteCount()));
        sameSize(tensor, bytes);
        HostTensor.of(elements.dataType(), bytes).copyFrom(0, elements, 0, elements.elementCount());
        blocks.write(bytes, tensor);
    }

    /**
     * Returns the current elements of a tensor, without waiting for copies. The access does not count as a copy.
     *
     * @param tensor tensor to read
     * @return elements in new direct memory
     */
    public synchronized HostTensor download(DeviceTensor tensor) {
        blocks.check(tensor);
        ByteBuffer bytes = direct(Math.toIntExact(tensor.byteCount()));
        blocks.read(tensor, bytes);
        return HostTensor.of(tensor.dataType(), bytes);
    }

    /**
     * {@return the elements of an f32 tensor in a new array, as {@link #download} reads them}
     *
     * @param tensor tensor to read
     */
    public float[] floats(DeviceTensor tensor) {
        HostTensor elements = download(tensor);
        float[] array = new float[Math.toIntExact(elements.elementCount())];
        elements.copyTo(0, array, 0, array.length);
        return array;
    }

    /**
     * {@return how many copies were started}
     *
     * @param direction direction of the copy
     */
    public synchronized long copies(Direction direction) {
        return counts.get(direction)[0];
    }

    /**
     * {@return the total size in bytes of the copies that were started}
     *
     * @param direction direction of the copy
     */
    public synchronized long bytes(Direction direction) {
        return counts.get(direction)[1];
    }

    /** {@return how many copies were started and have not run} */
    public synchronized int runningCopies() {
        return running.values().stream().mapToInt(Deque::size).sum();
    }

    /** {@return how many tensors were allocated and not freed} */
    public synchronized int liveTensors() {
        return blocks.count();
    }

    /** {@return how many staging buffers were allocated and not closed} */
    public synchronized int liveStagings() {
        return stagings;
    }

    /** {@return the maximum size of all staging memory at one time, in bytes} */
    public synchronized long peakStagingBytes() {
        return peakStagingBytes;
    }

    /**
     * Fails if a tensor or a staging buffer was not freed, or if a copy has not run.
     *
     * @throws AssertionError with the counts
     */
    public synchronized void assertNothingLeft() {
        if (liveTensors() + stagings + runningCopies() > 0) {
            throw new AssertionError("not freed: " + liveTensors() + " tensors, " + stagings + " staging buffers, "
                    + runningCopies() + " copies that have not run");
        }
    }

    @Override
    public synchronized DeviceTensor allocate(DataType dataType, long[] shape, int device) {
        if (device < 0 || device >= devices) {
            throw new IllegalArgumentException("no device " + device + ": there are devices 0 to " + (devices - 1));
        }
        long bytes = new DeviceTensor(dataType, shape, 0, device, null).byteCount();
        if (blocks.liveBytes() + bytes > capacityBytes) {
            throw exhausted("device " + device + " cannot allocate " + bytes + " bytes: the limit is " + capacityBytes);
        }
        long address = blocks.allocate(device, bytes);
        AutoCloseable owner = () -> free(address);
        return new DeviceTensor(dataType, shape, address, device, owner);
    }

    private static FerroException exhausted(String text) {
        return new FerroException(Code.RESOURCE, Where.of("heap", -1), text);
    }

    private synchronized void free(long address) {
        blocks.free(address);
    }

    @Override
    public synchronized Staging stage(int bytes) {
        if (stagingBytes + bytes > stagingCapacityBytes) {
            throw exhausted("cannot allocate " + bytes + " bytes of staging: the limit is " + stagingCapacityBytes);
        }
        stagings++;
        stagingBytes += bytes;
        peakStagingBytes = Math.max(peakStagingBytes, stagingBytes);
        return new HeapStagingBuffer(this, direct(bytes), pins);
    }

    /** Records that a staging buffer was closed. Fails if a copy still uses the buffer. */
    synchronized void closed(ByteBuffer buffer) {
        stagings--;
        stagingBytes -= buffer.capacity();
        if (running.values().stream().flatMap(Deque::stream).anyMatch(copy -> copy.uses(buffer))) {
            throw new IllegalStateException(
                    "staging of " + buffer.capacity() + " bytes was closed before its copy had run");
        }
    }

    @Override
    public Copy toHost(DeviceTensor from, ByteBuffer to) {
        ByteBuffer into = sameSize(from, to).duplicate();
        return start(Direction.TO_HOST, from, to, () -> blocks.read(from, into));
    }

    @Override
    public Copy toDevice(ByteBuffer from, DeviceTensor to) {
        ByteBuffer source = sameSize(to, from).duplicate();
        return start(Direction.TO_DEVICE, to, from, () -> blocks.write(source, to));
    }

    @Override
    public synchronized Copy onDevice(DeviceTensor from, DeviceTensor to) {
        blocks.check(from);
        boolean alike = from.device() == to.device()
                && from.dataType() == to.dataType()
                && from.elementCount() == to.elementCount();
        if (!alike) {
            throw new IllegalArgumentException(
                    "cannot copy from " + from + " to " + to + ": need the same device, type and length");
        }
        return start(Direction.ON_DEVICE, to, null, () -> {
            ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(from.byteCount()));
            blocks.read(from, bytes);
            blocks.write(bytes, to);
        });
    }

    private synchronized HeapDeviceCopy start(Direction direction, DeviceTensor on, ByteBuffer host, Runnable work) {
        blocks.check(on);
        long[] count = counts.get(direction);
        count[0]++;
        count[1] += on.byteCount();
        CopyFault fault = faults.remove(List.of(direction, count[0]));
        CopyEvent started = new CopyEvent(direction, on.device(), on.byteCount(), count[0], false);
        if (fault == CopyFault.REFUSE) {
            throw HeapDeviceCopy.failure(started, "refused by the test");
        }
        HeapDeviceCopy copy = new HeapDeviceCopy(this, started, host, work, fault);
        running.computeIfAbsent(List.of(direction, on.device()), key -> new ArrayDeque<>())
                .add(copy);
        watcher.accept(started);
        executeLater(copy, delay);
        return copy;
    }

    /** Runs a copy on the copy thread after a delay. A stalled copy runs when the stall has ended. */
    private synchronized void executeLater(HeapDeviceCopy copy, Duration after) {
        if (thread != null) {
            Runnable run = () -> {
                try {
                    if (!execute(copy)) {
                        executeLater(copy, STALLED);
                    }
                } catch (RuntimeException | Error thrown) {
                    // an executor keeps an exception of a task, and no code would read this exception
                    Thread own = Thread.currentThread();
                    own.getUncaughtExceptionHandler().uncaughtException(own, thrown);
                }
            };
            thread.schedule(run, after.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** Records that a thread waits for a copy. Runs the copy at once if no copy thread exists. */
    synchronized void awaited(HeapDeviceCopy copy) {
        if (thread == null) {
            execute(copy);
        }
    }

    /** Runs queued copies up to the given copy, but stops at a stalled copy. Returns whether the given copy has run. */
    private synchronized boolean execute(HeapDeviceCopy copy) {
        CopyEvent started = copy.started();
        Deque<HeapDeviceCopy> queue = running.get(List.of(started.direction(), started.device()));
        while (queue.contains(copy) && !queue.peek().isStalled()) {
            HeapDeviceCopy next = queue.poll();
            next.execute();
            CopyEvent begun = next.started();
            watcher.accept(new CopyEvent(begun.direction(), begun.device(), begun.bytes(), begun.number(), true));
        }
        notifyAll();
        return !queue.contains(copy);
    }

    /** Stops the copy thread. Tensors stay allocated until their owners free them. */
    @Override
    public synchronized void close() {
        if (thread != null) {
            thread.shutdownNow();
            thread = null;
        }
    }

    private static ByteBuffer sameSize(DeviceTensor tensor, ByteBuffer bytes) {
        if (!bytes.isDirect() || bytes.remaining() != tensor.byteCount()) {
            throw new IllegalArgumentException(
                    "cannot copy between " + tensor + " of " + tensor.byteCount() + " bytes and "
                            + bytes.remaining() + " bytes of " + (bytes.isDirect() ? "direct" : "heap")
                            + " memory: need direct memory of the same size");
        }
        return bytes;
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }
}
