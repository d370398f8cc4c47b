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

/** The place of the measured tensors. Elements are filled and compared in arrays for every place. */
sealed interface MemoryPlace extends AutoCloseable {
    /** Returns a tensor of the same type and length; on the host it is the array itself. */
    Tensor tensor(MeasuredElements elements);

    /** Copies the array into the tensor. */
    void write(MeasuredElements from, Tensor to);

    /** Writes all elements of the tensor again, in the natural way of the place; the values do not matter. */
    default void rewrite(MeasuredElements from, Tensor to) {
        write(from, to);
    }

    /** Copies the tensor into the array. */
    void read(Tensor from, MeasuredElements to);

    void free(Tensor tensor);

    /** Returns the name in tables and JSON. */
    String label();

    @Override
    void close();

    /** Chooses device memory for back ends made for devices, by the settings that ranks see. */
    static MemoryPlace of(ProcessGroup group, RankContext context) {
        boolean onDevice = group.backend().asNcclBackend().isPresent()
                || Settings.BACKEND.of(context).equals("gloo-fallback");
        return onDevice ? Device.of(group, context) : new Host();
    }

    /** Arrays. */
    record Host() implements MemoryPlace {
        @Override
        public Tensor tensor(MeasuredElements elements) {
            return elements.tensor();
        }

        @Override
        public void write(MeasuredElements from, Tensor to) {
            // the tensor is the array
        }

        @Override
        public void rewrite(MeasuredElements from, Tensor to) {
            from.fill(1);
        }

        @Override
        public void read(Tensor from, MeasuredElements to) {
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
     * Memory that the group allocates once, shared by its ranks if they can share memory. It has room for two tensors at a
     * time.
     */
    final class SharedPlace implements MemoryPlace {
        private final HostTensor[] room = new HostTensor[2];
        private int next;

        /** Allocates the memory; called by all ranks at once. */
        SharedPlace(ProcessGroup group, long bytesMost) {
            for (int i = 0; i < room.length; i++) {
                room[i] = group.allocate(DataType.FLOAT32, bytesMost / Float.BYTES)
                        .tensor();
            }
        }

        @Override
        public Tensor tensor(MeasuredElements elements) {
            HostTensor like = elements.tensor();
            if (like.dataType() != DataType.FLOAT32) {
                throw new IllegalArgumentException("shared memory is of f32 here, not of " + like.dataType());
            }
            // the group would not recognize a new tensor on a slice of the buffer as its own
            HostTensor tensor = room[next].slice(0, like.elementCount());
            next = 1 - next;
            return tensor;
        }

        @Override
        public void write(MeasuredElements from, Tensor to) {
            from.copyTo(((HostTensor) to).buffer());
        }

        @Override
        public void read(Tensor from, MeasuredElements to) {
            to.copyFrom(((HostTensor) from).buffer());
        }

        @Override
        public void free(Tensor tensor) {
            // the room is used again
        }

        @Override
        public String label() {
            return "shared";
        }

        @Override
        public void close() {
            // the collector's, once nobody reaches it
        }
    }

    /**
     * Memory of one device.
     *
     * @param context context that shares the memory
     * @param memory  memory of all devices
     * @param device  the device of this rank
     */
    record Device(RankContext context, DeviceMemory memory, int device) implements MemoryPlace {
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
        public Tensor tensor(MeasuredElements elements) {
            return memory.allocate(
                    elements.tensor().dataType(), elements.tensor().shape(), device);
        }

        @Override
        public void write(MeasuredElements from, Tensor to) {
            ByteBuffer bytes = direct(from);
            from.copyTo(bytes);
            await(memory.toDevice(bytes, (DeviceTensor) to));
        }

        @Override
        public void read(Tensor from, MeasuredElements to) {
            ByteBuffer bytes = direct(to);
            await(memory.toHost((DeviceTensor) from, bytes));
            to.copyFrom(bytes);
        }

        private static ByteBuffer direct(MeasuredElements elements) {
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
