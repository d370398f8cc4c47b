package ferro.examples.textmodel;

/** Trains the first steps again in one process and compares: the proof that averaging over ranks changes nothing. */
final class LossCheck {
    /** Relative difference allowed: sums in another order differ in their last bits, and steps let that grow. */
    static final double ALLOWED = 1e-3;

    private final ShareGradient shares;
    private final int worldSize;

    LossCheck(ShareGradient shares, int worldSize) {
        this.shares = shares;
        this.worldSize = worldSize;
    }

    /**
     * Computes the losses that one process has: all shares of a batch one after the other, their gradients added up.
     *
     * @param parameters to start from; changed in place
     * @param optimiser  fresh, with the settings of the run
     * @param steps      how many
     * @return loss of each step
     */
    double[] alone(float[] parameters, Adam optimiser, int steps) {
        double[] losses = new double[steps];
        float[] share = new float[shares.length()];
        for (int step = 0; step < steps; step++) {
            shares.load(parameters);
            float[] sum = new float[shares.length()];
            for (int rank = 0; rank < worldSize; rank++) {
                shares.compute(step, rank, share);
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += share[i];
                }
            }
            for (int i = 0; i < sum.length; i++) {
                sum[i] /= worldSize;
            }
            losses[step] = sum[shares.lossAt()];
            optimiser.update(parameters, sum);
        }
        return losses;
    }

    /**
     * Returns the largest relative difference.
     *
     * @param together losses of the job, at least as many as {@code alone}
     * @param alone    losses of one process
     * @return not a number if any loss is not
     */
    static double largestDifference(double[] together, double[] alone) {
        double largest = 0;
        for (int i = 0; i < alone.length; i++) {
            largest = Math.max(largest, Math.abs(together[i] - alone[i]) / Math.abs(alone[i]));
        }
        return largest;
    }
}
