package ferro.training;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.TrainingState;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.util.List;

/** A linear model that Adam trains, whose batch is the same for every number of ranks that divides it. */
public final class LinearTraining implements AutoCloseable {
    /** So many that two, three and four ranks each have a part of the state, cut at different places. */
    private static final int INPUTS = 100;
    /** A multiple of 2, 3 and 4. */
    private static final int BATCH = 12;

    private final ProcessGroup group;
    private final GradientBuckets buckets;
    private final ShardedOptimizer optimizer;

    /** Begins with zeros. */
    public LinearTraining(ProcessGroup group, boolean sharded) {
        this.group = group;
        buckets = GradientBuckets.builder(group)
                .parameters(List.of(
                        Parameter.of("weight", DataType.FLOAT32, INPUTS), Parameter.of("bias", DataType.FLOAT32, 1)))
                .sharded(sharded)
                .build();
        optimizer = ShardedOptimizer.over(buckets, UpdateRule.adam().withRate(0.01));
    }

    /** What has the state. */
    public ShardedOptimizer optimizer() {
        return optimizer;
    }

    /** What a checkpoint saves and loads. */
    public TrainingState state() {
        return TrainingState.of(List.of(
                        NamedTensor.of("weight", optimizer.parameter(0), INPUTS),
                        NamedTensor.of("bias", optimizer.parameter(1), 1)))
                .withSlices(optimizer.state())
                .withMetadata(optimizer.settings());
    }

    /** All parameters. */
    public float[] parameters() {
        float[] all = new float[INPUTS + 1];
        for (int input = 0; input < INPUTS; input++) {
            all[input] = optimizer.parameter(0).getFloat(input);
        }
        all[INPUTS] = optimizer.parameter(1).getFloat(0);
        return all;
    }

    /** Makes a step with this rank's share of the batch, and returns the loss of the whole. */
    public double step() {
        HostTensor weight = optimizer.parameter(0);
        HostTensor bias = optimizer.parameter(1);
        double[] slopes = new double[INPUTS + 1];
        double[] loss = {0};
        int share = BATCH / group.worldSize();
        for (int sample = 0; sample < share; sample++) {
            long number = optimizer.stepCount() * BATCH + (long) group.rank() * share + sample;
            double error = bias.getFloat(0) - target(number);
            for (int input = 0; input < INPUTS; input++) {
                error += weight.getFloat(input) * input(number, input);
            }
            for (int input = 0; input < INPUTS; input++) {
                slopes[input] += 2 * error * input(number, input) / share;
            }
            slopes[INPUTS] += 2 * error / share;
            loss[0] += error * error / share;
        }
        buckets.gradient(1).setFloat(0, (float) slopes[INPUTS]);
        buckets.ready(1);
        for (int input = 0; input < INPUTS; input++) {
            buckets.gradient(0).setFloat(input, (float) slopes[input]);
        }
        buckets.ready(0);
        group.allReduce(loss, ReduceOp.AVG);
        optimizer.step();
        return loss[0];
    }

    private static double input(long sample, int index) {
        return Math.sin(sample * 1.7 + index * index);
    }

    private static double target(long sample) {
        double sum = 1;
        for (int index = 0; index < INPUTS; index++) {
            sum += (index % 7 - 2.5) / 10 * input(sample, index);
        }
        return sum;
    }

    @Override
    public void close() {
        optimizer.close();
        buckets.close();
    }
}
