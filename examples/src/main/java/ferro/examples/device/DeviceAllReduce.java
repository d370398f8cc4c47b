package ferro.examples.device;

import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;

/**
 * A program that sums a tensor over all ranks. Ferro allocates the tensor on the device of each rank. Run the program
 * with {@code ./ferro run -n 2 --backend nccl ferro.examples.device.DeviceAllReduce}.
 */
public final class DeviceAllReduce {
    private static final int ELEMENTS = 1 << 20;

    private DeviceAllReduce() {}

    /**
     * Joins the group, allocates a device tensor, reduces it, and prints the first elements.
     *
     * @param arguments not used
     */
    public static void main(String[] arguments) {
        System.exit(DeviceRunner.run("sum", DeviceAllReduce::sum, ELEMENTS, System.out, System.err));
    }

    /** Returns the sum over all ranks. Element i of rank r is r + 1 + i % 3. */
    static float[] sum(ProcessGroup group, SystemContext context, int elements) {
        float[] own = new float[elements];
        for (int i = 0; i < elements; i++) {
            own[i] = group.rank() + 1 + i % 3;
        }
        try (DeviceFloats floats = DeviceFloats.of(group, context)) {
            DeviceTensor tensor = floats.upload(own);
            try {
                group.allReduce(tensor, ReduceOp.SUM);
                return floats.download(tensor);
            } finally {
                DeviceFloats.free(tensor);
            }
        }
    }
}
