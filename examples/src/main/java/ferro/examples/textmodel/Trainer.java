package ferro.examples.textmodel;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.StepTimes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Data-parallel training on one rank. The rank computes its own share of each batch. The ranks average their gradients
 * and make the same step.
 */
final class Trainer {
    private final ProcessGroup group;
    private final ShareGradient shares;
    private final ModelReplica replica;
    private final int steps;

    /**
     * Prepares training.
     *
     * @param group   ranks to train with
     * @param shares  contributions of a rank to each step
     * @param replica parameters with their first values
     * @param steps   largest number of batches, including the batches before a checkpoint
     */
    Trainer(ProcessGroup group, ShareGradient shares, ModelReplica replica, int steps) {
        this.group = group;
        this.shares = shares;
        this.replica = replica;
        this.steps = steps;
    }

    /**
     * Trains until all steps are done or one of the ranks is out of time.
     *
     * @param share     share of each batch that this rank takes
     * @param outOfTime condition that is checked once per step; if the condition is true on any rank, training ends on
     *     all ranks after the same step
     * @param progress  listener that is called after each step
     * @return all steps that were made
     */
    List<TrainingStep> train(int share, BooleanSupplier outOfTime, Consumer<TrainingStep> progress) {
        List<TrainingStep> done = new ArrayList<>();
        float[] parameters = new float[shares.length()];
        float[] gradient = new float[shares.length()];
        long begin = System.nanoTime();
        boolean last = false;
        for (int step = replica.stepCount(); step < steps && !last; step++) {
            long start = System.nanoTime();
            replica.read(parameters);
            shares.load(parameters);
            double loss = shares.compute(step, share, gradient, parameter -> replica.ready(parameter, gradient));
            long computed = System.nanoTime();
            // the all-reduce sends a flag with the loss, so that ranks whose clocks disagree still stop after the same
            // step
            double[] sent = {loss, outOfTime.getAsBoolean() ? 1 : 0};
            group.allReduce(sent, ReduceOp.AVG);
            long communication = System.nanoTime() - computed;
            StepTimes times = replica.update(step, steps);
            communication += times.waited().toNanos();
            last = sent[1] > 0;
            TrainingStep made = new TrainingStep(
                    step, sent[0], shares.samplesPerStep(), start - begin, System.nanoTime() - begin, communication);
            done.add(made);
            progress.accept(made);
        }
        return done;
    }
}
