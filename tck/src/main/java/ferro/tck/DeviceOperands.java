package ferro.tck;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Tensor;
import ferro.collectives.reduce.ElementCopier;
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
 * The device copies of one rank's operands. If the back end is tested without a device, the operands stay in host
 * memory.
 *
 * <p>Each copy has the full host memory, including the elements around an operand. Checks of the host memory therefore
 * see every element that a call has written on the device. Operands that share host memory also share device memory.
 * Only one thread may use an instance.
 */
final class DeviceOperands implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final DeviceMemory memory;
    private final int device;
    private final Map<Object, DeviceTensor> uploaded = new IdentityHashMap<>();
    private final ElementCopier copies = new ElementCopier();
    private Staging staging;

    private DeviceOperands(DeviceMemory memory, int device) {
        this.memory = memory;
        this.device = device;
    }

    static DeviceOperands of(TestedBackend subject, int rank) {
        Optional<DeviceMemory> memory = subject.devices();
        return new DeviceOperands(memory.orElse(null), memory.isEmpty() ? -1 : subject.device(rank));
    }

    /** Copies the operands of a call to the device, and returns the call with the device operands. */
    Collective call(Collective call) {
        if (memory == null) {
            return call;
        }
        Tensor in = tensor(call.in());
        return call.on(in, call.in() == call.out() ? in : tensor(call.out()));
    }

    /** Returns the device copy of a tensor. If the device has no copy of the tensor yet, first makes the copy. */
    Tensor tensor(Tensor tensor) {
        if (memory == null || tensor == null) {
            return tensor;
        }
        HostTensor host = (HostTensor) tensor;
        DeviceTensor full = uploaded.computeIfAbsent(host.memory(), key -> upload(host));
        long unit = host.memory() instanceof ByteBuffer ? host.dataType().byteSize() : 1;
        return full.slice(host.offset() / unit, host.elementCount());
    }

    /** Copies all device memory back to the host and frees the device memory. */
    void readBack() {
        uploaded.forEach((host, full) -> {
            if (full.elementCount() > 0) {
                ByteBuffer bytes = staged(full);
                end(memory.toHost(full, bytes), full);
                copies.copy(full.dataType(), host, 0, bytes, 0, full.elementCount());
            }
        });
        forget();
    }

    /** Frees the device memory and copies no data back to the host. */
    void forget() {
        uploaded.values().forEach(GpuCollectives::free);
        uploaded.clear();
    }

    private DeviceTensor upload(HostTensor host) {
        DataType type = host.dataType();
        long count = host.memory() instanceof ByteBuffer bytes
                ? bytes.capacity() / type.byteSize()
                : Array.getLength(host.memory());
        DeviceTensor full = memory.allocate(type, new long[] {count}, device);
        if (count > 0) {
            ByteBuffer bytes = staged(full);
            copies.copy(type, bytes, 0, host.memory(), 0, count);
            end(memory.toDevice(bytes, full), full);
        }
        return full;
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
