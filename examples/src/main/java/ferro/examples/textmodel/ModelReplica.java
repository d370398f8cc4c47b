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
 * The parameters of the model on one rank, with their optimizer. Gradients are sent while other gradients are computed.
 * The averages of the gradients update the parameters. Instances are not thread-safe.
 */
final class ModelReplica implements AutoCloseable {
    private static final double FIRST_RATE = 2e-3;

    private final Shape shape;
    private final GradientBuckets buckets;
    private final ShardedOptimizer optimizer;

    /** Creates a replica from buckets of the {@link Shape#parameters}. The replica closes the buckets. */
    ModelReplica(Shape shape, GradientBuckets buckets, UpdateRule rule) {
        this.shape = shape;
        this.buckets = buckets;
        optimizer = ShardedOptimizer.over(buckets, rule);
    }

    /** Returns the update rule of the demo, which is Adam. {@link #rate} changes the rate of this rule. */
    static UpdateRule rule() {
        return UpdateRule.adam().withRate(FIRST_RATE);
    }

    /** Returns the learning rate of a step. The rate falls linearly to a tenth of the first rate. */
    private double rate(int step, int steps) {
        return optimizer.rule().rate() * Math.max(0.1, 1 - 0.9 * step / steps);
    }

    /** Writes all parameters, which must be the same on all ranks. */
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

    /** Puts a computed gradient into its bucket. The gradient is sent with this bucket. */
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

    /** Updates the parameters by the averages of all gradients, at the learning rate of a step. */
    StepTimes update(int step, int steps) {
        optimizer.rate(rate(step, steps));
        return optimizer.step();
    }

    /** Returns the state of this rank that a checkpoint saves. */
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

    /**
     * Restores the optimizer's settings from a checkpoint. The checkpoint has already been loaded into {@link #state}.
     */
    void restore(Map<String, String> metadata) {
        optimizer.restore(metadata);
    }

    /** Returns how many steps were made, including the steps before a checkpoint. */
    int stepCount() {
        return (int) optimizer.stepCount();
    }

    @Override
    public void close() {
        optimizer.close();
        buckets.close();
    }
}
