package ferro.examples.textmodel;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.StepTimes;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.Resume;
import ferro.training.checkpoint.TrainingState;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Data-parallel training on one rank. The ranks average their gradients and make the same step. For one thread. */
final class Trainer implements AutoCloseable {
    /** A step: number from 0, mean loss over the full batch before it, time since the start, communication with waiting. */
    record TrainingStep(int number, double loss, long endNanos, long communicationNanos) {}

    static final UpdateRule RULE = UpdateRule.adam().withRate(2e-3);

    final CharModel model;
    private final ShardedOptimizer optimizer;
    private final ProcessGroup group;
    private final Batches batches;
    private final GradientBuckets buckets;

    /** Creates the trainer of a group from its buckets, which it closes. The first parameters are the same on all ranks. */
    Trainer(ProcessGroup group, CharModel.Shape shape, Batches batches, GradientBuckets buckets, UpdateRule rule) {
        this.group = group;
        this.batches = batches;
        this.buckets = buckets;
        model = new CharModel(shape, batches.batchSize());
        optimizer = ShardedOptimizer.over(buckets, rule);
        model.draw(batches.seed());
        for (int index = 0; index < model.parameters.size(); index++) {
            copy(model.parameters.get(index), optimizer.parameter(index), false);
        }
    }

    /**
     * Trains on one of so many parts of each batch until all steps are done, or a rank is out of time. The first step is the
     * one after the last resume. The scale makes the average over the ranks the mean over the full batch, even if the shares
     * of two ranks differ by a sample. The learning rate falls linearly to a tenth.
     */
    List<TrainingStep> train(
            int part, int parts, int steps, BooleanSupplier outOfTime, Consumer<TrainingStep> progress) {
        List<TrainingStep> done = new ArrayList<>();
        float scale = (float) ((double) parts / batches.batchSize());
        long begin = System.nanoTime();
        boolean last = false;
        for (int step = (int) optimizer.stepCount(); step < steps && !last; step++) {
            read();
            double loss = model.lossAndGradients(batches.text(), batches.share(step, part, parts), scale, this::send);
            long computed = System.nanoTime();
            // a flag goes with the loss, so that ranks whose clocks disagree still stop after the same step
            double[] sent = {loss, outOfTime.getAsBoolean() ? 1 : 0};
            group.allReduce(sent, ReduceOp.AVG);
            long communication = System.nanoTime() - computed;
            optimizer.rate(optimizer.rule().rate() * Math.max(0.1, 1 - 0.9 * step / steps));
            StepTimes times = optimizer.step();
            communication += times.waited().toNanos();
            last = sent[1] > 0;
            done.add(new TrainingStep(step, sent[0], System.nanoTime() - begin, communication));
            progress.accept(done.get(done.size() - 1));
        }
        return done;
    }

    /** Loads the newest undamaged checkpoint; without one, the training begins. All ranks call it, before they train. */
    Resume resume(Checkpoints checkpoints) {
        return Resume.from(checkpoints, state(Map.of()), optimizer::restore);
    }

    /** Saves the state after the last step in the background, with more metadata. All ranks call it. */
    void save(Checkpoints checkpoints, Map<String, String> metadata) {
        Map<String, String> all = new HashMap<>(optimizer.settings());
        all.putAll(metadata);
        checkpoints.saveAsync(optimizer.stepCount(), state(all));
    }

    private TrainingState state(Map<String, String> metadata) {
        List<NamedTensor> tensors = new ArrayList<>();
        for (Parameter parameter : model.shape().parameters()) {
            tensors.add(NamedTensor.of(parameter.name(), optimizer.parameter(tensors.size()), parameter.shape()));
        }
        return TrainingState.of(tensors).withSlices(optimizer.state()).withMetadata(metadata);
    }

    /** Puts a complete gradient into its bucket, which may leave for the other ranks at once. */
    private void send(int parameter) {
        copy(model.gradients.get(parameter), buckets.gradient(parameter), false);
        buckets.ready(parameter);
    }

    /** Copies the parameters of the optimizer into the model. */
    void read() {
        for (int index = 0; index < model.parameters.size(); index++) {
            copy(model.parameters.get(index), optimizer.parameter(index), true);
        }
    }

    private static void copy(float[][] rows, HostTensor tensor, boolean read) {
        int at = 0;
        for (float[] values : rows) {
            HostTensor row = HostTensor.of(DataType.FLOAT32, values, 0, values.length);
            (read ? row : tensor).copyFrom(read ? 0 : at, read ? tensor : row, read ? at : 0, values.length);
            at += values.length;
        }
    }

    @Override
    public void close() {
        optimizer.close();
        buckets.close();
    }
}
