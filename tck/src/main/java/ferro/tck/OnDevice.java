package ferro.tck;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Tensor;
import ferro.collectives.reduce.Elements;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.dispatch.DeviceMemory.Staging;
import ferro.dispatch.GpuCollectives;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Puts the operands of one rank's calls on its device, if the back end is tested with one; else leaves them where they are.
 *
 * <p>Copies whole memories, including the elements around the operands, so that the checks on host memory see every element
 * that a call has written on the device. Operands that share memory also share it on the device. For one thread.
 */
final class OnDevice implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final DeviceMemory memory;
    private final int device;
    private final Map<Object, DeviceTensor> wholes = new IdentityHashMap<>();
    private Staging staging;

    private OnDevice(DeviceMemory memory, int device) {
        this.memory = memory;
        this.device = device;
    }

    static OnDevice of(Subject subject, int rank) {
        Optional<DeviceMemory> memory = subject.devices();
        return new OnDevice(memory.orElse(null), memory.isEmpty() ? -1 : subject.device(rank));
    }

    /** Returns the call on the device; copies the memory of its operands there. */
    Collective call(Collective call) {
        if (memory == null) {
            return call;
        }
        Tensor in = tensor(call.in());
        return call.on(in, call.in() == call.out() ? in : tensor(call.out()));
    }

    /** Returns the same elements on the device. */
    Tensor tensor(Tensor tensor) {
        if (memory == null || tensor == null) {
            return tensor;
        }
        HostTensor host = (HostTensor) tensor;
        DeviceTensor whole = wholes.computeIfAbsent(host.memory(), key -> upload(host));
        long unit = host.memory() instanceof ByteBuffer ? host.dataType().byteSize() : 1;
        return whole.slice(host.offset() / unit, host.elementCount());
    }

    /** Copies all memory back to its origin and frees the device's copies. */
    void readBack() {
        wholes.forEach((host, whole) -> {
            if (whole.elementCount() > 0) {
                ByteBuffer bytes = staged(whole);
                end(memory.toHost(whole, bytes), whole);
                Elements.copy(whole.dataType(), host, 0, bytes, 0, whole.elementCount());
            }
        });
        forget();
    }

    /** Frees the device's copies without reading them. */
    void forget() {
        wholes.values().forEach(GpuCollectives::free);
        wholes.clear();
    }

    private DeviceTensor upload(HostTensor host) {
        DataType type = host.dataType();
        long count = host.memory() instanceof ByteBuffer bytes
                ? bytes.capacity() / type.byteSize()
                : Array.getLength(host.memory());
        DeviceTensor whole = memory.allocate(type, new long[] {count}, device);
        if (count > 0) {
            ByteBuffer bytes = staged(whole);
            Elements.copy(type, bytes, 0, host.memory(), 0, count);
            end(memory.toDevice(bytes, whole), whole);
        }
        return whole;
    }

    private ByteBuffer staged(DeviceTensor like) {
        int bytes = Math.toIntExact(like.byteCount());
        if (staging == null || staging.buffer().capacity() < bytes) {
            closeStaging();
            staging = memory.stage(bytes);
        }
        return staging.buffer().clear().limit(bytes);
    }

    private static void end(Copy copy, DeviceTensor tensor) {
        if (!copy.await(LIMIT)) {
            throw new AssertionError("a copy of " + tensor + " has not ended within " + LIMIT.toSeconds() + " s");
        }
    }

    private void closeStaging() {
        if (staging != null) {
            staging.close();
            staging = null;
        }
    }

    @Override
    public void close() {
        forget();
        closeStaging();
    }
}
