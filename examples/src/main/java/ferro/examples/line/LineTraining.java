package ferro.examples.line;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.RankSampler;
import ferro.training.RankSampler.LastSamples;
import ferro.training.Replicas;
import ferro.training.checkpoint.CheckpointInfo;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.TrainingState;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A program that learns the line y = 2 x + 1 from points on the line. Run the program with
 * {@code ./ferro run -n 4 ferro.examples.line.LineTraining FOLDER EPOCHS}. A later run with more epochs resumes from
 * the checkpoint in the folder, on any number of ranks.
 */
public final class LineTraining {
    private static final float[][] POINTS = points();

    private final ProcessGroup group;
    private final Path folder;
    private final PrintStream out;

    /** Creates the training of one rank. The folder is for checkpoints. Rank 0 prints the progress to {@code out}. */
    LineTraining(ProcessGroup group, Path folder, PrintStream out) {
        this.group = group;
        this.folder = folder;
        this.out = out;
    }

    private static float[][] points() {
        float[][] points = new float[60][];
        for (int index = 0; index < points.length; index++) {
            float x = index % 12 / 6f - 1;
            points[index] = new float[] {x, 2 * x + 1};
        }
        return points;
    }

    /**
     * Joins the group, trains, and prints the learned line.
     *
     * @param arguments folder for checkpoints, and number of epochs
     */
    public static void main(String[] arguments) {
        if (arguments.length != 2) {
            throw new IllegalArgumentException(
                    "need a folder for checkpoints and a number of epochs, found " + List.of(arguments));
        }
        try (ProcessGroup group = ProcessGroup.join()) {
            LineTraining training = new LineTraining(group, Path.of(arguments[0]), System.out);
            float[] line = training.learn(Integer.parseInt(arguments[1]));
            if (group.rank() == 0) {
                System.out.printf("y = %.2f x + %.2f%n", line[0], line[1]);
            }
        }
    }

    /**
     * Trains for a number of epochs over all points, including epochs before the checkpoint. Returns slope and offset.
     */
    float[] learn(int epochs) {
        List<Parameter> parameters =
                List.of(Parameter.of("slope", DataType.FLOAT32, 1), Parameter.of("offset", DataType.FLOAT32, 1));
        try (GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(parameters)
                        .sharded(true) // each rank keeps a part of the optimizer's state; leave it out to keep all
                        .build();
                ShardedOptimizer optimizer =
                        ShardedOptimizer.over(buckets, UpdateRule.adam().withRate(0.05))) {
            HostTensor slope = optimizer.parameter(0);
            HostTensor offset = optimizer.parameter(1);
            long seed = 17; // of the order of the samples, the same on all ranks
            RankSampler sampler =
                    RankSampler.of(POINTS.length, seed, LastSamples.DROP, group.rank(), group.worldSize());
            goOn(optimizer, sampler, epochs);
            Replicas.of(group).checkEqual(Map.of("slope", slope, "offset", offset));
            return new float[] {slope.getFloat(0), offset.getFloat(0)};
        }
    }

    private void goOn(ShardedOptimizer optimizer, RankSampler sampler, int epochs) {
        HostTensor slope = optimizer.parameter(0);
        HostTensor offset = optimizer.parameter(1);
        TrainingState state = TrainingState.of(
                        List.of(NamedTensor.of("slope", slope, 1), NamedTensor.of("offset", offset, 1)))
                .withSlices(optimizer.state());
        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
            if (checkpoints.latest().isPresent()) {
                CheckpointInfo saved = checkpoints.load(state);
                optimizer.restore(saved.metadata());
                sampler.restore(saved.metadata());
            }
            for (; sampler.epoch() < epochs; sampler.startEpoch(sampler.epoch() + 1)) {
                train(sampler, optimizer);
            }
            Map<String, String> rest = new HashMap<>(optimizer.settings());
            rest.putAll(sampler.state());
            checkpoints.save(optimizer.stepCount(), state.withMetadata(rest));
        }
    }

    private void train(RankSampler sampler, ShardedOptimizer optimizer) {
        GradientBuckets buckets = optimizer.buckets();
        HostTensor slope = optimizer.parameter(0);
        HostTensor offset = optimizer.parameter(1);
        while (sampler.remaining() > 0) {
            float[] point = POINTS[(int) sampler.next()]; // this rank's sample: no other rank has it
            float error = slope.getFloat(0) * point[0] + offset.getFloat(0) - point[1];

            buckets.gradient(1).setFloat(0, 2 * error); // of the offset
            buckets.ready(1); // may leave for the other ranks at once
            buckets.gradient(0).setFloat(0, 2 * error * point[0]); // of the slope, while that travels
            buckets.ready(0);

            optimizer.step(); // averages are there: all ranks change their parameters alike
            if (optimizer.stepCount() % 100 == 0) {
                double[] loss = {error * error};
                group.allReduce(loss, ReduceOp.AVG);
                report("step %d: loss %.4f%n", optimizer.stepCount(), loss[0]);
            }
        }
    }

    private void report(String format, Object... values) {
        if (group.rank() == 0) {
            out.printf(Locale.ROOT, format, values);
        }
    }
}
