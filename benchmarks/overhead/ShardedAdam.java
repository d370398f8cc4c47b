import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.BucketSettings;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.Replicas;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a step of Adam takes that keeps the whole state on every rank, and one that keeps a part per rank, in turns: milliseconds
 * of the slowest rank from the first gradient that is ready to parameters that are the same on all ranks, their ratio, and the
 * bytes of state of rank 0. It fails if a bit of a parameter differs between both, or between ranks.
 *
 * <p>{@code ./ferro run -n 4 benchmarks/overhead/ShardedAdam.java}; {@code -J-Dferro.links=tcp} before the program for sockets.
 */
public class ShardedAdam implements AutoCloseable {
    private static final int PARAMETERS = 16;
    private static final int ELEMENTS = 1 << 18;
    private static final int WARM_UP = 20;
    private static final int STEPS = 60;

    private final ProcessGroup group;
    private final GradientBuckets buckets;
    private final ShardedOptimizer optimizer;
    private final double[] millis = new double[STEPS];

    private ShardedAdam(ProcessGroup group, long bucketBytes, boolean sharded) {
        this.group = group;
        List<Parameter> parameters = new ArrayList<>();
        for (int i = 0; i < PARAMETERS; i++) {
            parameters.add(Parameter.of("p" + i, DataType.FLOAT32, ELEMENTS));
        }
        buckets = GradientBuckets.builder(group)
                .parameters(parameters)
                .settings(BucketSettings.DEFAULT.withBytes(bucketBytes, bucketBytes))
                .sharded(sharded)
                .build();
        optimizer = ShardedOptimizer.over(buckets, UpdateRule.adam());
    }

    public static void main(String[] words) {
        try (ProcessGroup group = ProcessGroup.join()) {
            if (group.rank() == 0) {
                System.out.println(group.linkReport());
                System.out.println("| buckets, MiB | full, ms | sharded, ms | ratio | state, full, B | sharded, B |");
                System.out.println("|---|---|---|---|---|---|");
            }
            for (int mib : new int[] {1, 4, PARAMETERS}) {
                compare(group, mib);
            }
        }
    }

    private static void compare(ProcessGroup group, int mib) {
        try (ShardedAdam full = new ShardedAdam(group, (long) mib << 20, false);
                ShardedAdam sharded = new ShardedAdam(group, (long) mib << 20, true)) {
            for (int step = -WARM_UP; step < STEPS; step++) {
                full.step(step);
                sharded.step(step);
            }
            full.checkEqual(sharded);
            double[] medians = {full.median(), sharded.median()};
            if (group.rank() == 0) {
                System.out.printf(
                        Locale.ROOT,
                        "| %d | %.2f | %.2f | %.2f | %d | %d |%n",
                        mib,
                        medians[0],
                        medians[1],
                        medians[1] / medians[0],
                        full.stateBytes(),
                        sharded.stateBytes());
            }
        }
    }

    private void step(int step) {
        for (int i = 0; i < PARAMETERS; i++) {
            HostTensor gradient = buckets.gradient(i);
            for (int at = 0; at < ELEMENTS; at++) {
                gradient.setFloat(at, (at * 31 + step * 7 + i + group.rank() & 1023) - 511);
            }
        }
        group.barrier();
        long begun = System.nanoTime();
        for (int i = PARAMETERS - 1; i >= 0; i--) {
            buckets.ready(i);
        }
        optimizer.step();
        if (step >= 0) {
            millis[step] = (System.nanoTime() - begun) / 1e6;
        }
    }

    /** Of the slowest rank in each step. */
    private double median() {
        group.allReduce(millis, ReduceOp.MAX);
        Arrays.sort(millis);
        return millis[STEPS / 2];
    }

    private long stateBytes() {
        return optimizer.state().stream().mapToLong(slice -> slice.values().byteCount()).sum();
    }

    private void checkEqual(ShardedAdam other) {
        Map<String, HostTensor> own = new TreeMap<>();
        for (int i = 0; i < PARAMETERS; i++) {
            own.put("p" + i, optimizer.parameter(i));
            for (int at = 0; at < ELEMENTS; at++) {
                int mine = Float.floatToRawIntBits(optimizer.parameter(i).getFloat(at));
                int theirs = Float.floatToRawIntBits(other.optimizer.parameter(i).getFloat(at));
                if (mine != theirs) {
                    throw new IllegalStateException("element " + at + " of p" + i + " has bits " + mine + " and " + theirs);
                }
            }
        }
        Replicas.of(group).checkEqual(own);
    }

    @Override
    public void close() {
        optimizer.close();
        buckets.close();
    }
}
