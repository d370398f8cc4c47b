package ferro.training.optimizer;

/** Checks of the constants of update rules. */
final class RuleConstants {
    private RuleConstants() {}

    static void atLeastZero(String rule, String constant, double value) {
        if (!(value >= 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(rule + ": need a finite " + constant + " from 0 on, found " + value);
        }
    }

    static void belowOne(String rule, String constant, double value) {
        if (!(value >= 0 && value < 1)) {
            throw new IllegalArgumentException(rule + ": need a " + constant + " from 0 to below 1, found " + value);
        }
    }
}
