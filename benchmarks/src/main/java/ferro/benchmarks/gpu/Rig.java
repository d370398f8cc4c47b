package ferro.benchmarks.gpu;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.dispatch.DeviceMemories;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongToDoubleFunction;

/** One rank with its device, on which every part works. */
final class Rig implements AutoCloseable {
    /** Longest time that a check waits for one call. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

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

    DeviceTensor filled(DataType type, long count, LongToDoubleFunction element) {
        ByteBuffer bytes = Samples.memory(type, count);
        for (int index = 0; index < count; index++) {
            Samples.put(bytes, type, index, element.applyAsDouble(index));
        }
        DeviceTensor tensor = empty(type, count);
        done(memory.toDevice(bytes, tensor));
        return tensor;
    }

    /** Returns this rank's operand. */
    DeviceTensor operand(DataType type, long count) {
        return filled(type, count, index -> Samples.operand(rank(), index));
    }

    /**
     * Compares a tensor with the result of a plain loop; throws if an element is wrong, and returns the number of elements.
     */
    long expect(String what, DeviceTensor tensor, LongToDoubleFunction expected) {
        DataType type = tensor.dataType();
        ByteBuffer bytes = Samples.memory(type, tensor.elementCount());
        done(memory.toHost(tensor, bytes));
        for (int index = 0; index < tensor.elementCount(); index++) {
            double found = Samples.at(bytes, type, index);
            double wanted = expected.applyAsDouble(index);
            FindingsPrinter.require(
                    Math.abs(found - wanted) <= tolerance(type) * Math.abs(wanted),
                    "%s of %s: element %d is %s, a plain loop gives %s",
                    what,
                    tensor,
                    index,
                    found,
                    wanted);
        }
        return tensor.elementCount();
    }

    private static double tolerance(DataType type) {
        if (!type.isFloating()) {
            return 0;
        }
        return switch (type.byteSize()) {
            case Short.BYTES -> 1e-2;
            case Float.BYTES -> 1e-5;
            default -> 1e-12;
        };
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
