package ferro.lightgbm;

/**
 * Ends a training when a metric has not become better for some iterations. All ranks pass the same values, such as those
 * of {@link LightGbmBooster#metrics}, so all ranks stop at the same iteration. Not thread-safe.
 */
public final class EarlyStopping {
    private final int rounds;
    private final boolean isHigherBetter;
    private int iterations;
    private int bestIteration;
    private double best;

    private EarlyStopping(int rounds, boolean isHigherBetter) {
        if (rounds < 1) {
            throw new IllegalArgumentException("early stopping needs at least 1 round, found " + rounds);
        }
        this.rounds = rounds;
        this.isHigherBetter = isHigherBetter;
    }

    /**
     * Stops by a metric of which lower values are better, such as {@code l2}.
     *
     * @param rounds number of iterations without a better value, at least 1
     * @return early stopping without values
     * @throws IllegalArgumentException if the number is less than 1
     */
    public static EarlyStopping whenNotLower(int rounds) {
        return new EarlyStopping(rounds, false);
    }

    /**
     * Stops by a metric of which higher values are better, such as {@code auc}.
     *
     * @param rounds number of iterations without a better value, at least 1
     * @return early stopping without values
     * @throws IllegalArgumentException if the number is less than 1
     */
    public static EarlyStopping whenNotHigher(int rounds) {
        return new EarlyStopping(rounds, true);
    }

    /**
     * Adds the value of the next iteration. NaN is never better.
     *
     * @param metric value
     * @return true if the training should stop
     */
    public boolean add(double metric) {
        iterations++;
        boolean isBetter = isHigherBetter ? metric > best : metric < best;
        if (isBetter || bestIteration == 0 && !Double.isNaN(metric)) {
            best = metric;
            bestIteration = iterations;
        }
        return iterations - bestIteration >= rounds;
    }

    /** {@return how many iterations the best model has; 0 before the first value} */
    public int bestIteration() {
        return bestIteration;
    }
}
