package ferro.lightgbm.spark;

import ferro.lightgbm.EarlyStopping;
import java.io.Serializable;

/**
 * When a training ends early.
 *
 * @param rounds         number of iterations without a better metric, after which the training ends
 * @param isHigherBetter whether higher values of the metric are better
 */
record EarlyStoppingRule(int rounds, boolean isHigherBetter) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Returns the early stopping of one rank, without values. */
    EarlyStopping start() {
        return isHigherBetter ? EarlyStopping.whenNotHigher(rounds) : EarlyStopping.whenNotLower(rounds);
    }
}
