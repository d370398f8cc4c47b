package ferro.examples.textmodel;

import ferro.DataType;
import ferro.HostTensor;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.StepTimes;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.TrainingState;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The parameters of the model on one rank, with what changes them: gradients leave while others are computed, their averages update
 * the parameters. Not for several threads at once.
 */
final class ModelReplica implements AutoCloseable {
    private static final double FIRST_RATE = 2e-3;

    private final Shape shape;
    private final GradientBuckets buckets;
    private final ShardedOptimizer optimizer;

    /** Takes buckets of the {@link Shape#parameters} over, and closes them. */
    ModelReplica(Shape shape, GradientBuckets buckets, UpdateRule rule) {
        this.shape = shape;
        this.buckets = buckets;
        optimizer = ShardedOptimizer.over(buckets, rule);
    }

    /** Returns the rule of the demo: Adam, as {@link #rate} changes its rate. */
    static UpdateRule rule() {
        return UpdateRule.adam().withRate(FIRST_RATE);
    }

    /** Returns the rate of a step: it falls linearly to a tenth. */
    private double rate(int step, int steps) {
        return optimizer.rule().rate() * Math.max(0.1, 1 - 0.9 * step / steps);
    }

    /** Writes all parameters; they must be the same on all ranks. */
    void write(float[] parameters) {
        copy(parameters, true);
    }

    /** Reads all parameters, which are the same on all ranks. */
    void read(float[] parameters) {
        copy(parameters, false);
    }

    private void copy(float[] flat, boolean write) {
        int at = 0;
        List<Parameter> all = shape.parameters();
        for (int index = 0; index < all.size(); index++) {
            int count = (int) all.get(index).elementCount();
            HostTensor part = HostTensor.of(DataType.FLOAT32, flat, at, count);
            HostTensor parameter = optimizer.parameter(index);
            (write ? parameter : part).copyFrom(0, write ? part : parameter, 0, count);
            at += count;
        }
    }

    /** Hands over a gradient that is computed; it leaves with its bucket. */
    void ready(int parameter, float[] gradient) {
        List<Parameter> all = shape.parameters();
        int at = 0;
        for (int before = 0; before < parameter; before++) {
            at += all.get(before).elementCount();
        }
        int count = (int) all.get(parameter).elementCount();
        buckets.put(parameter, HostTensor.of(DataType.FLOAT32, gradient, at, count));
        buckets.ready(parameter);
    }

    /** Updates the parameters by the averages of all gradients, at the rate of that step. */
    StepTimes update(int step, int steps) {
        optimizer.rate(rate(step, steps));
        return optimizer.step();
    }

    /** Returns what a checkpoint keeps of this rank. */
    TrainingState state() {
        List<NamedTensor> parameters = new ArrayList<>();
        List<Parameter> all = shape.parameters();
        for (int index = 0; index < all.size(); index++) {
            parameters.add(NamedTensor.of(
                    all.get(index).name(),
                    optimizer.parameter(index),
                    all.get(index).shape()));
        }
        return TrainingState.of(parameters).withSlices(optimizer.state()).withMetadata(optimizer.settings());
    }

    /** Goes on from a checkpoint, whose parameters and state {@link #state} has taken. */
    void restore(Map<String, String> metadata) {
        optimizer.restore(metadata);
    }

    /** Returns how many steps were made, with those before a checkpoint. */
    int stepCount() {
        return (int) optimizer.stepCount();
    }

    @Override
    public void close() {
        optimizer.close();
        buckets.close();
    }
}
