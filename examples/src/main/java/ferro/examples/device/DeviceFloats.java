package ferro.examples.device;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.dispatch.DeviceMemories;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.Settings;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

/** The float tensors of one rank on its device, with upload and download. */
final class DeviceFloats implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final SystemContext context;
    private final DeviceMemory memory;
    private final int device;

    private DeviceFloats(SystemContext context, int device) {
        this.context = context;
        this.memory = DeviceMemories.shared(context);
        this.device = device;
    }

    /**
     * Opens the memory of this rank's device. With NCCL, this device is NCCL's device. Without NCCL, the setting
     * {@code ferro.nccl.device} names this device. If {@code ferro.nccl.device} is not set, the number of the device is
     * the number of the rank on this host.
     */
    static DeviceFloats of(ProcessGroup group, SystemContext context) {
        int device = group.backend()
                .asNcclBackend()
                .map(NcclBackend::device)
                .or(() -> Settings.NCCL_DEVICE.find(context))
                .or(() -> Settings.LOCAL_RANK.find(context))
                .orElse(0);
        return new DeviceFloats(context, device);
    }

    DeviceTensor upload(float[] elements) {
        DeviceTensor tensor = memory.allocate(DataType.FLOAT32, new long[] {elements.length}, device);
        ByteBuffer bytes = direct(elements.length);
        bytes.asFloatBuffer().put(elements);
        await(memory.toDevice(bytes, tensor));
        return tensor;
    }

    float[] download(DeviceTensor tensor) {
        float[] elements = new float[Math.toIntExact(tensor.elementCount())];
        ByteBuffer bytes = direct(elements.length);
        await(memory.toHost(tensor, bytes));
        bytes.asFloatBuffer().get(elements);
        return elements;
    }

    /** Frees a tensor that {@link #upload} has allocated. */
    static void free(DeviceTensor tensor) {
        GpuCollectives.free(tensor);
    }

    private static ByteBuffer direct(int count) {
        return ByteBuffer.allocateDirect(count * Float.BYTES).order(ByteOrder.nativeOrder());
    }

    private static void await(DeviceMemory.Copy copy) {
        if (!copy.await(TIMEOUT)) {
            throw new IllegalStateException("a copy has not ended after " + TIMEOUT);
        }
    }

    @Override
    public void close() {
        context.release(DeviceMemory.class);
    }
}
