import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.training.Replicas;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Times the comparison of tensors of all ranks by their hashes, which a save of a checkpoint makes too: seconds per GB of rank 0, the
 * median of ten comparisons of 256 MiB, for tensors in arrays and in direct memory.
 *
 * <p>{@code ./ferro run -n 2 benchmarks/overhead/CompareTensors.java}
 */
public class CompareTensors {
    private static final int TENSORS = 16;
    private static final int ELEMENTS = 4 << 20;
    private static final int ROUNDS = 10;
    private static final int WARM_UP = 5;
    private static final double GIGABYTE = 1e9;

    public static void main(String[] words) {
        try (ProcessGroup group = ProcessGroup.join()) {
            print(group, "| memory | s per GB |");
            print(group, "|---|---|");
            for (boolean direct : new boolean[] {false, true}) {
                double seconds = median(group, tensors(direct));
                double bytes = 4.0 * TENSORS * ELEMENTS;
                print(
                        group,
                        String.format(
                                Locale.ROOT, "| %s | %.2f |", direct ? "direct" : "array", seconds / bytes * GIGABYTE));
            }
        }
    }

    private static void print(ProcessGroup group, String line) {
        if (group.rank() == 0) {
            System.out.println(line);
        }
    }

    private static Map<String, HostTensor> tensors(boolean direct) {
        Map<String, HostTensor> all = new TreeMap<>();
        for (int i = 0; i < TENSORS; i++) {
            all.put("t" + i, direct ? HostTensor.allocate(DataType.FLOAT32, ELEMENTS) : HostTensor.of(new float[ELEMENTS]));
        }
        return all;
    }

    private static double median(ProcessGroup group, Map<String, HostTensor> tensors) {
        Replicas replicas = Replicas.of(group);
        double[] seconds = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            long start = System.nanoTime();
            replicas.checkEqual(tensors);
            if (round >= 0) {
                seconds[round] = (System.nanoTime() - start) / 1e9;
            }
        }
        Arrays.sort(seconds);
        return seconds[ROUNDS / 2];
    }
}
