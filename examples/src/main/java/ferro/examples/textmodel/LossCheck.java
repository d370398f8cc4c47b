package ferro.examples.textmodel;

/**
 * Trains the first steps again as one process does, and compares. This proves that the ranks together saw each sample of
 * each batch once, with the same weight.
 *
 * <p>It never uses a part of a batch, so a bug in the distribution or weighting of samples affects only one side.
 */
final class LossCheck {
    /**
     * Allowed relative difference: sums in another order differ in their last bits, and the difference grows over the steps.
     */
    static final double ALLOWED = 1e-3;

    private final ShareGradient whole;

    /**
     * Prepares the model of one process.
     *
     * @param shape   of the model
     * @param batches the same as the ranks draw from
     */
    LossCheck(Shape shape, Batches batches) {
        whole = new ShareGradient(new CharModel(shape, batches.batchSize()), batches, 1);
    }

    /**
     * Computes the losses of one process on whole batches.
     *
     * @param parameters to start from; changed in place
     * @param optimiser  fresh, with the settings of the run
     * @param steps      number of steps
     * @return loss of each step
     */
    double[] alone(float[] parameters, Adam optimiser, int steps) {
        double[] losses = new double[steps];
        float[] values = new float[whole.length()];
        for (int step = 0; step < steps; step++) {
            whole.load(parameters);
            whole.compute(step, 0, values);
            losses[step] = values[whole.lossAt()];
            optimiser.update(parameters, values);
        }
        return losses;
    }

    /**
     * Returns the largest relative difference.
     *
     * @param together losses of the job, at least as many as {@code alone}
     * @param alone    losses of one process
     * @return difference, NaN if any loss is NaN
     */
    static double largestDifference(double[] together, double[] alone) {
        double largest = 0;
        for (int i = 0; i < alone.length; i++) {
            largest = Math.max(largest, Math.abs(together[i] - alone[i]) / Math.abs(alone[i]));
        }
        return largest;
    }
}
