package ferro.benchmarks;

import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.Tensor;
import ferro.dispatch.DeviceMemories;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.ProcessGroup;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

/** Where the tensors are that are measured; elements are filled and compared in arrays, whatever the place. */
sealed interface Place extends AutoCloseable {
    /** Returns a tensor of as many elements; on the host it is the array itself. */
    Tensor tensor(Elements elements);

    /** Makes the tensor what the array is. */
    void write(Elements from, Tensor to);

    /** Makes the array what the tensor is. */
    void read(Tensor from, Elements to);

    void free(Tensor tensor);

    /** As tables and JSON show it. */
    String label();

    @Override
    void close();

    /** Chooses devices for back ends that are made for them, by the settings that ranks see. */
    static Place of(ProcessGroup group, RankContext context) {
        boolean onDevice = group.backend().asNcclBackend().isPresent()
                || Settings.BACKEND.of(context).equals("gloo-fallback");
        return onDevice ? Device.of(group, context) : new Host();
    }

    /** Arrays. */
    record Host() implements Place {
        @Override
        public Tensor tensor(Elements elements) {
            return elements.tensor();
        }

        @Override
        public void write(Elements from, Tensor to) {
            // the tensor is the array
        }

        @Override
        public void read(Tensor from, Elements to) {
            // the tensor is the array
        }

        @Override
        public void free(Tensor tensor) {
            // nothing but an array
        }

        @Override
        public String label() {
            return "host";
        }

        @Override
        public void close() {
            // nothing was opened
        }
    }

    /**
     * Memory of one device.
     *
     * @param context what shares the memory
     * @param memory  of all devices
     * @param device  the one that this rank drives
     */
    record Device(RankContext context, DeviceMemory memory, int device) implements Place {
        private static final Duration PATIENCE = Duration.ofMinutes(1);

        static Device of(ProcessGroup group, RankContext context) {
            int device = group.backend()
                    .asNcclBackend()
                    .map(NcclBackend::device)
                    .or(() -> Settings.NCCL_DEVICE.find(context))
                    .or(() -> Settings.LOCAL_RANK.find(context))
                    .orElse(0);
            return new Device(context, DeviceMemories.shared(context), device);
        }

        @Override
        public Tensor tensor(Elements elements) {
            return memory.allocate(
                    elements.tensor().dataType(), elements.tensor().shape(), device);
        }

        @Override
        public void write(Elements from, Tensor to) {
            ByteBuffer bytes = direct(from);
            from.copyTo(bytes);
            await(memory.toDevice(bytes, (DeviceTensor) to));
        }

        @Override
        public void read(Tensor from, Elements to) {
            ByteBuffer bytes = direct(to);
            await(memory.toHost((DeviceTensor) from, bytes));
            to.copyFrom(bytes);
        }

        private static ByteBuffer direct(Elements elements) {
            return ByteBuffer.allocateDirect(Math.toIntExact(elements.tensor().byteCount()))
                    .order(ByteOrder.nativeOrder());
        }

        private static void await(DeviceMemory.Copy copy) {
            if (!copy.await(PATIENCE)) {
                throw new IllegalStateException("a copy is not done after " + PATIENCE);
            }
        }

        @Override
        public void free(Tensor tensor) {
            GpuCollectives.free((DeviceTensor) tensor);
        }

        @Override
        public String label() {
            return "device";
        }

        @Override
        public void close() {
            context.release(DeviceMemory.class);
        }
    }
}
