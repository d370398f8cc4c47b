package ferro.examples.device;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;

/**
 * A program that averages memory of another library. Ferro needs only an address, a device, a number of elements, and
 * an object that keeps the memory alive. Run the program with
 * {@code ./ferro run -n 2 --backend nccl ferro.examples.device.ForeignPointer}.
 */
public final class ForeignPointer {
    private static final int ELEMENTS = 1000;

    private ForeignPointer() {}

    /**
     * A buffer of another library.
     *
     * @param address device pointer
     * @param device  ordinal of the device
     * @param floats  number of elements
     * @param owner   object whose garbage collection frees the memory
     */
    record Buffer(long address, int device, long floats, Object owner) {}

    /**
     * Joins the group, averages a buffer of another library in place, and prints the first elements.
     *
     * @param arguments not used
     */
    public static void main(String[] arguments) {
        System.exit(DeviceRunner.run("mean", ForeignPointer::mean, ELEMENTS, System.out, System.err));
    }

    /**
     * Returns a tensor over the buffer. The tensor references the owner, so that the memory is not freed while a call
     * is in progress.
     */
    static DeviceTensor view(Buffer buffer) {
        return new DeviceTensor(
                DataType.FLOAT32, new long[] {buffer.floats()}, buffer.address(), buffer.device(), buffer.owner());
    }

    /** Returns the mean over all ranks. Element i of rank r is 10 r + i. */
    static float[] mean(ProcessGroup group, SystemContext context, int elements) {
        float[] own = new float[elements];
        for (int i = 0; i < elements; i++) {
            own[i] = 10 * group.rank() + i;
        }
        try (DeviceFloats other = DeviceFloats.of(group, context)) {
            // in this example, memory of ferro takes the place of the other library's memory; ferro gets only three
            // numbers and an object
            DeviceTensor theirs = other.upload(own);
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
