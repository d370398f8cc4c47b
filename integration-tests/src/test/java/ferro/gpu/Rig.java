package ferro.gpu;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.dispatch.DeviceMemories;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;

/** One rank with its device, on which every part works. */
final class Rig implements AutoCloseable {
    /** Longest time that a check waits for one call. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    /** An element of a tensor of floats. */
    @FunctionalInterface
    interface Element {
        float at(long index);
    }

    private final SystemContext context = SystemContext.ofProcess();
    private final ProcessGroup group;
    private final DeviceMemory memory;
    private final int device;

    private Rig(ProcessGroup group, int device) {
        this.group = group;
        this.memory = DeviceMemories.shared(context);
        this.device = device;
    }

    /** Joins the group that the environment describes. Without NCCL the tensors are on the given device. */
    static Rig join(int device) {
        ProcessGroup group = ProcessGroup.join();
        Optional<NcclBackend> nccl = group.backend().asNcclBackend();
        return new Rig(group, nccl.map(NcclBackend::device).orElse(device));
    }

    ProcessGroup group() {
        return group;
    }

    NcclBackend nccl() {
        return group.backend().asNcclBackend().orElseThrow();
    }

    int device() {
        return device;
    }

    DeviceMemory memory() {
        return memory;
    }

    SystemContext context() {
        return context;
    }

    int rank() {
        return group.rank();
    }

    int ranks() {
        return group.worldSize();
    }

    DeviceTensor empty(DataType type, long count) {
        return memory.allocate(type, new long[] {count}, device);
    }

    DeviceTensor filled(long count, Element element) {
        ByteBuffer bytes = floats(count);
        for (int index = 0; index < count; index++) {
            bytes.putFloat(index * Float.BYTES, element.at(index));
        }
        DeviceTensor tensor = empty(DataType.FLOAT32, count);
        done(memory.toDevice(bytes, tensor));
        return tensor;
    }

    DeviceTensor operand(long count) {
        return filled(count, index -> Samples.operand(rank(), index));
    }

    /** Compares a tensor of floats; throws if an element is wrong, and returns the number of elements. */
    long expect(String what, DeviceTensor tensor, Element expected) {
        ByteBuffer bytes = floats(tensor.elementCount());
        done(memory.toHost(tensor, bytes));
        for (int index = 0; index < tensor.elementCount(); index++) {
            float found = bytes.getFloat(index * Float.BYTES);
            float wanted = expected.at(index);
            FindingsPrinter.require(
                    found == wanted, "%s of %s: element %d is %s, need %s", what, tensor, index, found, wanted);
        }
        return tensor.elementCount();
    }

    private static ByteBuffer floats(long count) {
        return ByteBuffer.allocateDirect(Math.toIntExact(count * Float.BYTES)).order(ByteOrder.nativeOrder());
    }

    static void done(DeviceMemory.Copy copy) {
        FindingsPrinter.require(copy.await(PATIENCE), "a copy is not done after %s", PATIENCE);
    }

    static void free(DeviceTensor... tensors) {
        for (DeviceTensor tensor : tensors) {
            GpuCollectives.free(tensor);
        }
    }

    @Override
    public void close() {
        context.release(DeviceMemory.class);
        group.close();
        context.close();
    }
}
