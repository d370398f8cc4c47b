package ferro.examples.device;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;

/**
 * Averages memory of another library. Ferro needs only an address, a device, a number of elements, and an object to keep
 * alive: {@code ./ferro run -n 2 --backend nccl ferro.examples.device.ForeignPointer}.
 */
public final class ForeignPointer {
    private static final int ELEMENTS = 1000;

    private ForeignPointer() {}

    /**
     * A buffer of another library.
     *
     * @param address device pointer
     * @param device  ordinal
     * @param floats  elements
     * @param owner   frees the memory when it is no longer referenced
     */
    record Buffer(long address, int device, long floats, Object owner) {}

    /**
     * Joins, takes a buffer, averages it in place, prints.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        System.exit(DeviceProgram.run("mean", ForeignPointer::mean, ELEMENTS, System.out, System.err));
    }

    /**
     * Returns a tensor over the buffer. It references the owner, so the other library's memory stays as long as a call is in
     * progress.
     */
    static DeviceTensor view(Buffer buffer) {
        return new DeviceTensor(
                DataType.FLOAT32, new long[] {buffer.floats()}, buffer.address(), buffer.device(), buffer.owner());
    }

    /** Returns the mean over all ranks; element i of rank r is 10 r + i. */
    static float[] mean(ProcessGroup group, SystemContext context, int elements) {
        float[] mine = new float[elements];
        for (int i = 0; i < elements; i++) {
            mine[i] = 10 * group.rank() + i;
        }
        try (DeviceFloats other = DeviceFloats.of(group, context)) {
            // ferro's own memory stands for the other library: only three numbers and an object are passed on
            DeviceTensor theirs = other.upload(mine);
            Buffer buffer = new Buffer(theirs.address(), theirs.device(), theirs.elementCount(), theirs.owner());
            try {
                group.allReduce(view(buffer), ReduceOp.AVG);
                return other.download(theirs);
            } finally {
                DeviceFloats.free(theirs);
            }
        }
    }
}
