package ferro.benchmarks;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
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

    /** Writes all elements of the tensor anew, in the way that is natural for it; which value does not matter. */
    default void rewrite(Elements from, Tensor to) {
        write(from, to);
    }

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
        public void rewrite(Elements from, Tensor to) {
            from.fill(1);
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

    /** Memory that the group allocates once, shared by its ranks where they can share any: room for two tensors at a time. */
    final class Shared implements Place {
        private final HostTensor[] room = new HostTensor[2];
        private int next;

        /** Called by all ranks at once. */
        Shared(ProcessGroup group, long bytesMost) {
            for (int i = 0; i < room.length; i++) {
                room[i] = group.allocate(DataType.FLOAT32, bytesMost / Float.BYTES);
            }
        }

        @Override
        public Tensor tensor(Elements elements) {
            HostTensor like = elements.tensor();
            if (like.dataType() != DataType.FLOAT32) {
                throw new IllegalArgumentException("shared memory is of f32 here, not of " + like.dataType());
            }
            // a tensor of a slice of the buffer would be one that the group does not know as its own
            HostTensor tensor = room[next].slice(0, like.elementCount());
            next = 1 - next;
            return tensor;
        }

        @Override
        public void write(Elements from, Tensor to) {
            from.copyTo(((HostTensor) to).buffer());
        }

        @Override
        public void read(Tensor from, Elements to) {
            to.copyFrom(((HostTensor) from).buffer());
        }

        @Override
        public void free(Tensor tensor) {
            // it goes with the group
        }

        @Override
        public String label() {
            return "shared";
        }

        @Override
        public void close() {
            // it goes with the group
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
