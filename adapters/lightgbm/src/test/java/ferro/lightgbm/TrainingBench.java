package ferro.lightgbm;

import ferro.CallCounters;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;

/**
 * A rank that measures the training of a model over LightGBM's own sockets and over ferro, in turns, and prints a line for
 * each. The arguments are rows of the job, iterations, turns, and {@code both}, {@code sockets} or {@code ferro}. The system
 * property {@code bench.address} has the address of this rank for LightGBM's sockets.
 */
public final class TrainingBench {
    private static final int COLUMNS = 28;
    private static final int CATEGORIES = 40;
    private static final double MILLIS = 1e-6;
    private static final String PARAMETERS = "objective=binary num_leaves=31 max_bin=255 learning_rate=0.1 verbosity=-1"
            + " seed=7 deterministic=true force_col_wise=true tree_learner=data num_threads="
            + Integer.getInteger("bench.threads", 1);

    private final ProcessGroup group;
    private final double[] values;
    private final float[] labels;
    private final int iterations;

    private TrainingBench(ProcessGroup group, int rows, int iterations) {
        this.group = group;
        this.iterations = iterations;
        int own = (rows - group.rank() + group.worldSize() - 1) / group.worldSize();
        this.values = new double[own * COLUMNS];
        this.labels = new float[own];
        fill();
    }

    public static void main(String[] arguments) throws Exception {
        int turns = Integer.parseInt(arguments[2]);
        String networks = arguments[3];
        try (ProcessGroup group = ProcessGroup.join()) {
            TrainingBench bench =
                    new TrainingBench(group, Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
            for (int turn = 0; turn < turns; turn++) {
                if (!networks.equals("ferro")) {
                    bench.sockets();
                }
                if (!networks.equals("sockets")) {
                    bench.ferro();
                }
            }
        }
    }

    /** Fills rows as in the measurements of other programs: numbers, some of them with few values, and a noisy label. */
    private void fill() {
        Random random = new Random(group.rank());
        for (int row = 0; row < labels.length; row++) {
            int first = row * COLUMNS;
            for (int column = 0; column < COLUMNS; column++) {
                values[first + column] = column % 4 == 3 ? random.nextInt(CATEGORIES) : random.nextGaussian();
            }
            double target = values[first]
                    + values[first + 1] * values[first + 2]
                    + 0.05 * values[first + 3]
                    - 1
                    + Math.sin(3 * values[first + 4])
                    + random.nextGaussian();
            labels[row] = target > 0 ? 1 : 0;
        }
    }

    private void sockets() throws IOException {
        group.barrier();
        long begun = System.nanoTime();
        InetAddress own = InetAddress.getByName(System.getProperty("bench.address", "127.0.0.1"));
        try (OwnSockets sockets = OwnSockets.connect(group, own)) {
            long connected = System.nanoTime();
            LightGbmRows rows = LightGbmRows.of(HostTensor.of(values), COLUMNS);
            LightGbmDataset data = sockets.dataset(rows, labels, PARAMETERS);
            print("sockets", begun, connected, sockets.booster(data, PARAMETERS));
        }
    }

    private void ferro() {
        group.barrier();
        long begun = System.nanoTime();
        CallCounters before = group.counters();
        try (LightGbmNetwork network = LightGbmNetwork.connect(group)) {
            long connected = System.nanoTime();
            LightGbmDataset data = network.dataset(values, COLUMNS, labels, PARAMETERS);
            print("ferro", begun, connected, network.booster(data, PARAMETERS));
            print(group.counters().minus(before).toString());
        }
    }

    private void print(String network, long begun, long connected, LightGbmBooster booster) {
        long ready = System.nanoTime();
        long[] nanos = new long[iterations];
        for (int iteration = 0; iteration < iterations; iteration++) {
            long start = System.nanoTime();
            booster.update();
            nanos[iteration] = System.nanoTime() - start;
        }
        long ended = System.nanoTime();
        Arrays.sort(nanos);
        String model = booster.modelString();
        print(String.format(
                Locale.ROOT,
                "%s: median %.2f ms, tenth %.2f ms, training %.0f ms, connect %.0f ms, data %.0f ms, trees %08x",
                network,
                nanos[iterations / 2] * MILLIS,
                nanos[iterations / 10] * MILLIS,
                (ended - ready) * MILLIS,
                (connected - begun) * MILLIS,
                (ready - connected) * MILLIS,
                model.substring(0, model.indexOf("\nparameters:")).hashCode()));
    }

    private void print(String line) {
        if (group.rank() == 0) {
            System.out.println(line);
        }
    }
}
