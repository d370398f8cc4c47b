package ferro.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.TrainingRanks.Over;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.TrainingState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A job that four ranks have saved goes on with another number of ranks as it would have gone on with four. */
class OtherWorldSizeTest {
    private static final int INPUTS = 7;
    /** A multiple of every number of ranks here. */
    private static final int BATCH = 12;

    private static final int SAVED = 6;
    private static final int STEPS = 14;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"2, true", "3, true", "2, false", "3, false"})
    void theNextLossesAreThoseOfTheFour(int others, boolean sharded) {
        double[] expected = losses(4, true, true);

        double[] resumed = losses(others, sharded, false);

        assertEquals(STEPS - SAVED, resumed.length);
        assertArrayEquals(lastOf(expected, resumed.length), resumed, 1e-5);
    }

    private static double[] lastOf(double[] losses, int count) {
        double[] last = new double[count];
        System.arraycopy(losses, losses.length - count, last, 0, count);
        return last;
    }

    private double[] losses(int worldSize, boolean sharded, boolean saves) {
        return TrainingRanks.run(Over.SIMULATED, worldSize, group -> trained(group, sharded, saves))
                .get(0);
    }

    /** Trains from the start, and saves on the way, or from the checkpoint on. */
    private double[] trained(ProcessGroup group, boolean sharded, boolean saves) {
        List<Parameter> parameters =
                List.of(Parameter.of("weight", DataType.FLOAT32, INPUTS), Parameter.of("bias", DataType.FLOAT32, 1));
        try (GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(parameters)
                        .sharded(sharded)
                        .build();
                ShardedOptimizer optimizer =
                        ShardedOptimizer.over(buckets, UpdateRule.adam().withRate(0.1));
                Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
            TrainingState state = TrainingState.of(List.of(
                            NamedTensor.of("weight", optimizer.parameter(0), INPUTS),
                            NamedTensor.of("bias", optimizer.parameter(1), 1)))
                    .withSlices(optimizer.state());
            if (!saves) {
                optimizer.restore(checkpoints.load(state).metadata());
            }
            List<Double> losses = new ArrayList<>();
            while (optimizer.stepCount() < STEPS) {
                losses.add(step(group, optimizer));
                if (saves && optimizer.stepCount() == SAVED) {
                    checkpoints.save(SAVED, state.withMetadata(optimizer.settings()));
                }
            }
            return losses.stream().mapToDouble(Double::doubleValue).toArray();
        }
    }

    /** Makes a step with this rank's share of the batch, and returns the loss of the whole. */
    private static double step(ProcessGroup group, ShardedOptimizer optimizer) {
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
        GradientBuckets buckets = optimizer.buckets();
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
            sum += (index - 2.5) * input(sample, index);
        }
        return sum;
    }
}
