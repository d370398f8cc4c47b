package ferro.tck;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.collectives.reduce.Elements;
import ferro.dispatch.DeviceMemory;
import ferro.tck.parts.HeapBlocks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Devices without a GPU: memory behind addresses that are no pointers, and copies that run as late as they may.
 *
 * <p>A copy runs when a thread waits for it, after the copies that were started before it in its direction on its device.
 * After {@link #copyOnThread} it runs on a separate thread some time later. So a caller that forgets to wait, or uses a side
 * too early, sees wrong data. {@link #failCopy}, {@link #refuseCopy}, {@link #stallCopy}, {@link #refusePinning},
 * {@link #capacity} and {@link #stagingCapacity} inject faults. Counters and {@link #watch} report the copies;
 * {@link #assertNothingLeft} reports what was not freed.
 *
 * <p>It is not a service: a test puts it into a rank's context before the first use,
 * {@code context.shared(DeviceMemory.class, heap::opened)}. All ranks of a test may share one, each by its own
 * {@link #opened}, whose close frees nothing of the others. Thread-safe.
 */
public final class HeapDeviceMemory implements DeviceMemory {
    private final int devices;
    private final HeapBlocks blocks = new HeapBlocks();
    private final Map<List<Object>, Deque<HeapCopy>> running = new HashMap<>();
    private final EnumMap<Direction, long[]> counts = new EnumMap<>(Direction.class);
    private final Map<List<Object>, CopyFault> faults = new HashMap<>();
    private Consumer<CopyEvent> watcher = event -> {};
    private boolean pins = true;
    private long capacityBytes = Long.MAX_VALUE;
    private long stagingCapacityBytes = Long.MAX_VALUE;
    private int stagings;
    private long stagingBytes;
    private long peakStagingBytes;
    private HeapCopyThread thread;

    /** The direction of a copy. */
    public enum Direction {
        /** From a device to the host. */
        TO_HOST,
        /** From the host to a device. */
        TO_DEVICE,
        /** On one device. */
        ON_DEVICE
    }

    private enum CopyFault {
        FAIL,
        REFUSE,
        STALL
    }

    /**
     * An event of {@link #watch}: a copy was started, or has run.
     *
     * @param direction direction
     * @param device    ordinal
     * @param bytes     size
     * @param number    number of the copy in its direction, from 1
     * @param ended     whether it has run
     */
    public record CopyEvent(Direction direction, int device, long bytes, long number, boolean ended) {}

    /**
     * Makes devices 0 to {@code devices} - 1.
     *
     * @param devices number of devices
     */
    public HeapDeviceMemory(int devices) {
        this.devices = devices;
        for (Direction direction : Direction.values()) {
            counts.put(direction, new long[2]);
        }
    }

    /**
     * Returns this memory as one rank opens it; closing the returned memory closes nothing of the others.
     *
     * @return the same devices
     */
    public DeviceMemory opened() {
        return new HeapDeviceMemoryView(this);
    }

    /**
     * Runs copies on a thread from now on, each some time after it was started; the thread ends with {@link #close}.
     *
     * @param delay least time between start and run
     * @return this
     */
    public synchronized HeapDeviceMemory copyOnThread(Duration delay) {
        if (thread == null) {
            thread = new HeapCopyThread(this, delay);
        }
        return this;
    }

    /**
     * Fails a copy: its await throws {@link FerroException} NATIVE.
     *
     * @param direction which way
     * @param nth       counted from now on, from 1
     */
    public synchronized void failCopy(Direction direction, int nth) {
        faults.put(List.of(direction, counts.get(direction)[0] + nth), CopyFault.FAIL);
    }

    /**
     * Refuses a copy: the start throws {@link FerroException} NATIVE.
     *
     * @param direction which way
     * @param nth       counted from now on, from 1
     */
    public synchronized void refuseCopy(Direction direction, int nth) {
        faults.put(List.of(direction, counts.get(direction)[0] + nth), CopyFault.REFUSE);
    }

    /**
     * Stalls a copy, and those behind it, until {@link #endStalledCopies}.
     *
     * @param direction which way
     * @param nth       counted from now on, from 1
     */
    public synchronized void stallCopy(Direction direction, int nth) {
        faults.put(List.of(direction, counts.get(direction)[0] + nth), CopyFault.STALL);
    }

    /** Lets stalled copies run, and also copies that were to stall and have not been started yet. */
    public synchronized void endStalledCopies() {
        faults.values().removeIf(fault -> fault == CopyFault.STALL);
        running.values().forEach(queue -> queue.forEach(copy -> copy.stalled(false)));
        notifyAll();
    }

    /** Makes {@link #stage} return plain memory from now on. */
    public synchronized void refusePinning() {
        pins = false;
    }

    /**
     * Bounds staging; an allocation beyond that fails with {@link FerroException} RESOURCE.
     *
     * @param bytes most bytes of all pieces together
     */
    public synchronized void stagingCapacity(long bytes) {
        stagingCapacityBytes = bytes;
    }

    /**
     * Bounds the memory of all devices together; an allocation beyond that fails with {@link FerroException} RESOURCE.
     *
     * @param bytes most bytes
     */
    public synchronized void capacity(long bytes) {
        capacityBytes = bytes;
    }

    /**
     * Reports every start and every end of a copy to a listener, in order; the memory is locked meanwhile.
     *
     * @param listener receives the events
     */
    public synchronized void watch(Consumer<CopyEvent> listener) {
        watcher = listener;
    }

    /**
     * Makes a tensor with elements; does not count as a copy.
     *
     * @param elements content of the tensor
     * @param device   ordinal
     * @param shape    lengths; none means one dimension
     * @return tensor; its owner frees it
     */
    public DeviceTensor upload(HostTensor elements, int device, long... shape) {
        long[] lengths = shape.length == 0 ? elements.shape() : shape;
        DeviceTensor tensor = allocate(elements.dataType(), lengths, device);
        write(elements, tensor);
        return tensor;
    }

    /**
     * Writes elements into a tensor; does not count as a copy.
     *
     * @param elements elements with the type and length of the tensor
     * @param tensor   tensor to write
     */
    public synchronized void write(HostTensor elements, DeviceTensor tensor) {
        blocks.check(tensor);
        ByteBuffer bytes = direct(Math.toIntExact(elements.byteCount()));
        sameSize(tensor, bytes);
        Elements.copy(
                elements.dataType(), bytes, 0, elements.memory(), Elements.at(elements, 0), elements.elementCount());
        blocks.write(bytes, tensor);
    }

    /**
     * Returns the elements of a tensor as they are now, without waiting for copies; does not count as a copy.
     *
     * @param tensor tensor to read
     * @return fresh direct memory
     */
    public synchronized HostTensor download(DeviceTensor tensor) {
        blocks.check(tensor);
        ByteBuffer bytes = direct(Math.toIntExact(tensor.byteCount()));
        blocks.read(tensor, bytes);
        return HostTensor.of(tensor.dataType(), bytes);
    }

    /**
     * Returns the elements of a tensor of f32; see {@link #download}.
     *
     * @param tensor tensor to read
     * @return fresh array
     */
    public float[] floats(DeviceTensor tensor) {
        HostTensor elements = download(tensor);
        float[] array = new float[Math.toIntExact(elements.elementCount())];
        Elements.copy(DataType.FLOAT32, array, 0, elements.memory(), 0, array.length);
        return array;
    }

    /**
     * Returns how many copies were started.
     *
     * @param direction which way
     * @return count
     */
    public synchronized long copies(Direction direction) {
        return counts.get(direction)[0];
    }

    /**
     * Returns how many bytes the started copies had.
     *
     * @param direction which way
     * @return bytes
     */
    public synchronized long bytes(Direction direction) {
        return counts.get(direction)[1];
    }

    /**
     * Returns how many copies were started and have not run.
     *
     * @return count
     */
    public synchronized int runningCopies() {
        return running.values().stream().mapToInt(Deque::size).sum();
    }

    /**
     * Returns how many tensors were made and not freed.
     *
     * @return count
     */
    public synchronized int liveTensors() {
        return blocks.count();
    }

    /**
     * Returns how many pieces of staging were made and not closed.
     *
     * @return count
     */
    public synchronized int liveStagings() {
        return stagings;
    }

    /**
     * Returns the most bytes of staging there were at one time.
     *
     * @return bytes
     */
    public synchronized long peakStagingBytes() {
        return peakStagingBytes;
    }

    /**
     * Fails if a tensor, a piece of staging or a copy was left behind.
     *
     * @throws AssertionError with the counts
     */
    public synchronized void assertNothingLeft() {
        if (liveTensors() + stagings + runningCopies() > 0) {
            throw new AssertionError("left behind: " + liveTensors() + " tensors, " + stagings + " pieces of staging, "
                    + runningCopies() + " running copies");
        }
    }

    @Override
    public synchronized DeviceTensor allocate(DataType dataType, long[] shape, int device) {
        if (device < 0 || device >= devices) {
            throw new IllegalArgumentException("no device " + device + ": there are devices 0 to " + (devices - 1));
        }
        long bytes = new DeviceTensor(dataType, shape, 0, device, null).byteCount();
        if (blocks.liveBytes() + bytes > capacityBytes) {
            throw exhausted("device " + device + " has no " + bytes + " bytes left of " + capacityBytes);
        }
        long address = blocks.allocate(device, bytes);
        AutoCloseable owner = () -> free(address);
        return new DeviceTensor(dataType, shape, address, device, owner);
    }

    private static FerroException exhausted(String text) {
        return new FerroException(Code.RESOURCE, Where.outside("heap", -1), text);
    }

    private synchronized void free(long address) {
        blocks.free(address);
    }

    @Override
    public synchronized Staging stage(int bytes) {
        if (stagingBytes + bytes > stagingCapacityBytes) {
            throw exhausted("the host has no " + bytes + " bytes left of " + stagingCapacityBytes + " for staging");
        }
        stagings++;
        stagingBytes += bytes;
        peakStagingBytes = Math.max(peakStagingBytes, stagingBytes);
        return new HeapStaging(this, direct(bytes), pins);
    }

    /** Forgets a piece of staging. */
    synchronized void closed(ByteBuffer buffer) {
        stagings--;
        stagingBytes -= buffer.capacity();
        boolean used = running.values().stream().flatMap(Deque::stream).anyMatch(copy -> copy.uses(buffer));
        if (used) {
            throw new IllegalStateException(
                    "staging of " + buffer.capacity() + " bytes was closed under a copy that still runs");
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
                    "a copy from " + from + " to " + to + ": need one device, type and length");
        }
        return start(Direction.ON_DEVICE, to, null, () -> {
            ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(from.byteCount()));
            blocks.read(from, bytes);
            blocks.write(bytes, to);
        });
    }

    private synchronized HeapCopy start(Direction direction, DeviceTensor on, ByteBuffer host, Runnable work) {
        blocks.check(on);
        long[] count = counts.get(direction);
        count[0]++;
        count[1] += on.byteCount();
        CopyFault fault = faults.remove(List.of(direction, count[0]));
        if (fault == CopyFault.REFUSE) {
            throw HeapCopy.failure(direction, on.device(), "refused by the test");
        }
        CopyEvent started = new CopyEvent(direction, on.device(), on.byteCount(), count[0], false);
        HeapCopy copy = new HeapCopy(this, started, host, work);
        if (fault == CopyFault.FAIL) {
            copy.fails();
        }
        copy.stalled(fault == CopyFault.STALL);
        running.computeIfAbsent(List.of(direction, on.device()), key -> new ArrayDeque<>())
                .add(copy);
        watcher.accept(started);
        if (thread != null) {
            thread.started(copy);
        }
        return copy;
    }

    /** Records that a thread waits for a copy; without a thread of copies, the copy runs now. */
    synchronized void awaited(HeapCopy copy) {
        if (thread == null) {
            execute(copy);
        }
    }

    /** Runs a copy and those before it, up to a stalled copy; returns whether it has run. */
    synchronized boolean execute(HeapCopy copy) {
        CopyEvent started = copy.started();
        Deque<HeapCopy> queue = running.get(List.of(started.direction(), started.device()));
        while (queue.contains(copy) && !queue.peek().isStalled()) {
            HeapCopy next = queue.poll();
            next.execute();
            CopyEvent begun = next.started();
            watcher.accept(new CopyEvent(begun.direction(), begun.device(), begun.bytes(), begun.number(), true));
        }
        notifyAll();
        return !queue.contains(copy);
    }

    /** Ends the thread of copies; tensors stay, and their owners free them. */
    @Override
    public void close() {
        HeapCopyThread ending;
        synchronized (this) {
            ending = thread;
            thread = null;
        }
        if (ending != null) {
            ending.close();
        }
    }

    private static ByteBuffer sameSize(DeviceTensor tensor, ByteBuffer bytes) {
        if (!bytes.isDirect() || bytes.remaining() != tensor.byteCount()) {
            throw new IllegalArgumentException("a copy between " + tensor + " of " + tensor.byteCount() + " bytes and "
                    + bytes.remaining() + " bytes of " + (bytes.isDirect() ? "" : "no ")
                    + "direct memory: need as many bytes, in direct memory");
        }
        return bytes;
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }
}
