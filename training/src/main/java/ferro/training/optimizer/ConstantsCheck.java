package ferro.training.optimizer;

/** Checks of the constants of update rules. */
final class ConstantsCheck {
    private ConstantsCheck() {}

    static void atLeastZero(String rule, String constant, double value) {
        if (!(value >= 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(
                    rule + ": " + constant + " must be finite and at least 0, found " + value);
        }
    }

    static void belowOne(String rule, String constant, double value) {
        if (!(value >= 0 && value < 1)) {
            throw new IllegalArgumentException(
                    rule + ": " + constant + " must be at least 0 and less than 1, found " + value);
        }
    }
}
