package ferro.examples.device;

import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;

/**
 * Adds up a tensor that ferro has allocated on each rank's device:
 * {@code ./ferro run -n 2 --backend nccl ferro.examples.device.DeviceAllReduce}.
 */
public final class DeviceAllReduce {
    private static final int ELEMENTS = 1 << 20;

    private DeviceAllReduce() {}

    /**
     * Joins, allocates, reduces, prints.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        System.exit(DeviceProgram.run("sum", DeviceAllReduce::sum, ELEMENTS, System.out, System.err));
    }

    /** Returns the sum over all ranks; element i of rank r is r + 1 + i % 3. */
    static float[] sum(ProcessGroup group, SystemContext context, int elements) {
        float[] mine = new float[elements];
        for (int i = 0; i < elements; i++) {
            mine[i] = group.rank() + 1 + i % 3;
        }
        try (DeviceFloats floats = DeviceFloats.of(group, context)) {
            DeviceTensor tensor = floats.upload(mine);
            try {
                group.allReduce(tensor, ReduceOp.SUM);
                return floats.download(tensor);
            } finally {
                DeviceFloats.free(tensor);
            }
        }
    }
}
