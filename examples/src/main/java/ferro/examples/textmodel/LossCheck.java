package ferro.examples.textmodel;

/**
 * A check that trains the first steps again in one process and compares the losses. The check proves that the ranks
 * together used each sample of each batch once, with the same weight.
 *
 * <p>The check never uses a part of a batch. A bug in the distribution or weighting of samples therefore affects only
 * the losses of the job.
 */
final class LossCheck {
    /**
     * Allowed relative difference. Sums in another order differ in their last bits, and this difference grows over the
     * steps.
     */
    static final double ALLOWED = 1e-3;

    private final ShareGradient full;
    private final int max;

    /**
     * Prepares the model of one process.
     *
     * @param shape   sizes of the model
     * @param batches batches that the ranks also use
     * @param max    largest number of batches of the run
     */
    LossCheck(Shape shape, Batches batches, int max) {
        full = new ShareGradient(new CharModel(shape, batches.batchSize()), batches, 1);
        this.max = max;
    }

    /**
     * Computes the losses of one process on full batches.
     *
     * @param replica replica of one rank, in the state at the start of the run; the check changes the parameters of the
     *     replica
     * @param count   number of steps
     * @return loss of each step
     */
    double[] alone(ModelReplica replica, int count) {
        double[] losses = new double[count];
        float[] parameters = new float[full.length()];
        float[] gradient = new float[full.length()];
        int first = replica.stepCount();
        for (int step = first; step < first + count; step++) {
            replica.read(parameters);
            full.load(parameters);
            losses[step - first] = full.compute(step, 0, gradient, parameter -> replica.ready(parameter, gradient));
            replica.update(step, max);
        }
        return losses;
    }

    /**
     * Returns the largest relative difference between the losses of the job and of one process.
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
