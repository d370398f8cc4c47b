package ferro.examples.textmodel;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Data-parallel training on one rank: its own share, the average over all ranks, the same step everywhere. */
final class Trainer {
    private final ShareGradient shares;
    private final Adam optimiser;
    private final GradientExchange exchange;

    Trainer(ShareGradient shares, Adam optimiser, GradientExchange exchange) {
        this.shares = shares;
        this.optimiser = optimiser;
        this.exchange = exchange;
    }

    /**
     * Trains until all steps are done or some rank is out of time.
     *
     * @param rank       this rank
     * @param parameters equal on all ranks; changed in place
     * @param steps      largest number of batches
     * @param outOfTime  called once per step; true on any rank ends training on all ranks after the same step
     * @param progress   called after each step
     * @return all steps
     */
    List<TrainingStep> train(
            int rank, float[] parameters, int steps, BooleanSupplier outOfTime, Consumer<TrainingStep> progress) {
        List<TrainingStep> done = new ArrayList<>();
        float[] values = new float[shares.length()];
        long begin = System.nanoTime();
        boolean last = false;
        for (int step = 0; step < steps && !last; step++) {
            long start = System.nanoTime();
            shares.load(parameters);
            shares.compute(step, rank, values);
            // The flag is sent with the gradients, so that ranks whose clocks disagree still stop after the same step.
            values[shares.flagAt()] = outOfTime.getAsBoolean() ? 1 : 0;
            long computed = System.nanoTime();
            exchange.average(values);
            long averaged = System.nanoTime();
            optimiser.update(parameters, values);
            last = values[shares.flagAt()] > 0;
            done.add(new TrainingStep(
                    step,
                    values[shares.lossAt()],
                    shares.samplesPerStep(),
                    start - begin,
                    System.nanoTime() - begin,
                    averaged - computed));
            progress.accept(done.get(step));
        }
        return done;
    }
}
