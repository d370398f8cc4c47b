package ferro.benchmarks;

import ferro.Allocation;
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

/** The kind of memory of the measured tensors. For every kind of memory, elements are filled and compared in arrays. */
sealed interface MeasuredMemory extends AutoCloseable {
    /** Returns a tensor with the type and length of {@code elements}. On the host, the tensor is the array itself. */
    Tensor tensor(MeasuredTensor elements);

    /** Copies the array into the tensor. */
    void write(MeasuredTensor from, Tensor to);

    /** Writes all elements of the tensor again, as a program does in this kind of memory. The values do not matter. */
    default void rewrite(MeasuredTensor from, Tensor to) {
        write(from, to);
    }

    /** Copies the tensor into the array. */
    void read(Tensor from, MeasuredTensor to);

    void free(Tensor tensor);

    /** Returns the name in tables and JSON. */
    String label();

    @Override
    void close();

    /**
     * Chooses device memory if the settings of the ranks select a back end for devices. All ranks must call this method
     * at the same time.
     *
     * @throws IllegalArgumentException if the sweep asks for shared memory on a back end for devices
     */
    static MeasuredMemory of(ProcessGroup group, RankContext context, Sweep sweep) {
        String backend = Settings.BACKEND.of(context);
        boolean onDevice = group.backend().asNcclBackend().isPresent() || backend.equals("gloo-fallback");
        if (!onDevice) {
            return sweep.shared() ? GroupMemory.of(group, sweep) : new ArrayMemory();
        }
        if (sweep.shared()) {
            throw new IllegalArgumentException(
                    "--memory shared on back end " + backend + ", whose tensors are in device memory: omit --memory");
        }
        return GpuMemory.of(group, context);
    }

    /** Arrays of Java. */
    record ArrayMemory() implements MeasuredMemory {
        @Override
        public Tensor tensor(MeasuredTensor elements) {
            return elements.tensor();
        }

        @Override
        public void write(MeasuredTensor from, Tensor to) {
            // the tensor is the array
        }

        @Override
        public void rewrite(MeasuredTensor from, Tensor to) {
            from.fill(1);
        }

        @Override
        public void read(Tensor from, MeasuredTensor to) {
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
     * Memory that the group allocates once. If the ranks can share memory, the allocated memory is shared. The memory
     * has space for a fixed number of tensors at a time.
     */
    final class GroupMemory implements MeasuredMemory {
        /** Alignment of tensors in bytes, so that each tensor begins at a separate page. */
        private static final long ALIGNMENT = 4096;

        private final Allocation room;
        private final long strideElements;
        private final int tensors;
        private int next;

        /**
         * Allocates the memory. All ranks must call this constructor at the same time.
         *
         * @param group     group of all ranks
         * @param type      element type of all tensors
         * @param bytesMost size of the longest tensor
         * @param tensors   largest number of tensors at a time
         */
        GroupMemory(ProcessGroup group, DataType type, long bytesMost, int tensors) {
            long pages = (bytesMost + ALIGNMENT - 1) / ALIGNMENT;
            this.strideElements = Math.max(1, pages) * (ALIGNMENT / type.byteSize());
            this.tensors = tensors;
            this.room = group.allocate(type, Math.multiplyExact(strideElements, (long) tensors));
        }

        /** Allocates memory for a sweep. Rank 0 prints a message on standard error if the ranks cannot share memory. */
        static GroupMemory of(ProcessGroup group, Sweep sweep) {
            long bytesMost = 0;
            for (long size : sweep.sizes()) {
                long elements = sweep.elements(size, group.worldSize());
                bytesMost = Math.max(bytesMost, elements * sweep.type().byteSize());
            }
            // input and output
            GroupMemory place = new GroupMemory(group, sweep.type(), bytesMost, 2 * sweep.queued());
            if (group.rank() == 0 && !place.room.isShared()) {
                System.err.println(
                        "ferro bench: --memory shared measures memory outside the heap that the ranks do not share, because "
                                + place.room.whyNotShared());
            }
            return place;
        }

        @Override
        public Tensor tensor(MeasuredTensor elements) {
            HostTensor like = elements.tensor();
            HostTensor all = room.tensor();
            if (like.dataType() != all.dataType() || like.elementCount() > strideElements) {
                throw new IllegalArgumentException(
                        "need room for " + like + ", found " + all.dataType() + "[" + strideElements + "]");
            }
            // the group would not recognize a new tensor on a slice of the buffer as its own
            HostTensor tensor = all.slice(next * strideElements, like.elementCount());
            next = (next + 1) % tensors;
            return tensor;
        }

        @Override
        public void write(MeasuredTensor from, Tensor to) {
            from.copyTo(((HostTensor) to).buffer());
        }

        @Override
        public void rewrite(MeasuredTensor from, Tensor to) {
            from.fillFromFirst(((HostTensor) to).buffer());
        }

        @Override
        public void read(Tensor from, MeasuredTensor to) {
            to.copyFrom(((HostTensor) from).buffer());
        }

        @Override
        public void free(Tensor tensor) {
            // later tensors use the same memory
        }

        @Override
        public String label() {
            return room.isShared() ? "shared" : "direct";
        }

        @Override
        public void close() {
            room.close();
        }
    }

    /**
     * Memory of one device.
     *
     * @param context context that shares the memory
     * @param memory  memory of all devices
     * @param device  the device of this rank
     */
    record GpuMemory(RankContext context, DeviceMemory memory, int device) implements MeasuredMemory {
        private static final Duration PATIENCE = Duration.ofMinutes(1);

        static GpuMemory of(ProcessGroup group, RankContext context) {
            int device = group.backend()
                    .asNcclBackend()
                    .map(NcclBackend::device)
                    .or(() -> Settings.NCCL_DEVICE.find(context))
                    .or(() -> Settings.LOCAL_RANK.find(context))
                    .orElse(0);
            return new GpuMemory(context, DeviceMemories.shared(context), device);
        }

        @Override
        public Tensor tensor(MeasuredTensor elements) {
            return memory.allocate(
                    elements.tensor().dataType(), elements.tensor().shape(), device);
        }

        @Override
        public void write(MeasuredTensor from, Tensor to) {
            ByteBuffer bytes = direct(from);
            from.copyTo(bytes);
            await(memory.toDevice(bytes, (DeviceTensor) to));
        }

        @Override
        public void read(Tensor from, MeasuredTensor to) {
            ByteBuffer bytes = direct(to);
            await(memory.toHost((DeviceTensor) from, bytes));
            to.copyFrom(bytes);
        }

        private static ByteBuffer direct(MeasuredTensor elements) {
            return ByteBuffer.allocateDirect(Math.toIntExact(elements.tensor().byteCount()))
                    .order(ByteOrder.nativeOrder());
        }

        private static void await(DeviceMemory.Copy copy) {
            if (!copy.await(PATIENCE)) {
                throw new IllegalStateException("a copy has not ended after " + PATIENCE);
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
