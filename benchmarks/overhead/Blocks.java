import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What 64 all-reduces take one by one, queued, and as a block, in turns: microseconds for all 64, the median of the slowest rank.
 *
 * <p>{@code ./ferro run -n 2 -J-Dferro.links=tcp benchmarks/overhead/Blocks.java}; without the setting over shared memory.
 */
public class Blocks {
    private static final int CALLS = 64;
    private static final int[] BYTES = {4, 1024, 4096, 16384};
    private static final long NANOS_A_FORM = 400_000_000L;

    public static void main(String[] words) {
        try (ProcessGroup group = ProcessGroup.join()) {
            if (group.rank() == 0) {
                System.out.println(group.linkReport());
                System.out.println("| 64 calls of | one by one, us | queued, us | a block, us |");
                System.out.println("|---|---|---|---|");
            }
            for (int warm = 0; warm < 3; warm++) {
                for (int bytes : BYTES) {
                    measured(group, forms(group, bytes));
                }
            }
            for (int bytes : BYTES) {
                double[] micros = measured(group, forms(group, bytes));
                if (group.rank() == 0) {
                    System.out.printf(Locale.ROOT, "| %d B | %.0f | %.0f | %.0f |%n", bytes, micros[0], micros[1], micros[2]);
                }
            }
        }
    }

    private static List<Runnable> forms(ProcessGroup group, int bytes) {
        float[][] data = new float[CALLS][bytes / 4];
        return List.of(
                () -> oneByOne(group, data),
                () -> queued(group, data),
                () -> group.coalesced(() -> oneByOne(group, data)));
    }

    private static void oneByOne(ProcessGroup group, float[][] data) {
        for (float[] each : data) {
            group.allReduce(each, ReduceOp.MAX);
        }
    }

    private static void queued(ProcessGroup group, float[][] data) {
        List<Work> pending = new ArrayList<>();
        for (float[] each : data) {
            pending.add(group.allReduceAsync(HostTensor.of(each), ReduceOp.MAX));
        }
        pending.forEach(Work::await);
    }

    /** All forms in turns; every rank as often as rank 0 says. */
    private static double[] measured(ProcessGroup group, List<Runnable> forms) {
        List<double[]> rounds = new ArrayList<>();
        long begun = System.nanoTime();
        byte[] goesOn = {1};
        while (goesOn[0] != 0) {
            double[] micros = new double[forms.size()];
            for (int form = 0; form < micros.length; form++) {
                group.barrier();
                long before = System.nanoTime();
                forms.get(form).run();
                micros[form] = (System.nanoTime() - before) / 1e3;
            }
            group.allReduce(micros, ReduceOp.MAX);
            long passed = System.nanoTime() - begun;
            rounds.add(micros);
            goesOn[0] = (byte) (passed < NANOS_A_FORM * forms.size() ? 1 : 0);
            group.broadcast(goesOn, 0);
        }
        double[] medians = new double[forms.size()];
        for (int form = 0; form < medians.length; form++) {
            int which = form;
            double[] sorted = rounds.stream().mapToDouble(round -> round[which]).sorted().toArray();
            medians[form] = sorted[sorted.length / 2];
        }
        return medians;
    }
}
