package ferro.training.optimizer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rules Adam and AdamW, as in {@code torch.optim.Adam} and {@code torch.optim.AdamW} without {@code amsgrad}.
 *
 * <p>Each element has a gradient g, a parameter p, and the averages m ({@code exp_avg}) and v ({@code exp_avg_sq}).
 * Step t, from 1, computes:
 * <pre>
 * p = p * (1 - rate * weightDecay)                (AdamW, if weightDecay is not 0)
 * g = g + weightDecay * p                         (Adam, if weightDecay is not 0)
 * m = m + (1 - beta1) * (g - m)
 * v = beta2 * v + (1 - beta2) * g * g
 * p = p - rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
 * </pre>
 *
 * <p>Source: Kingma and Ba 2015, arXiv:1412.6980, and for AdamW Loshchilov and Hutter 2019, arXiv:1711.05101.
 */
public final class AdamRule implements UpdateRule {
    private final boolean isDecoupled;
    private final Constants constants;

    /** The constants, in the order of the update. */
    record Constants(double rate, double beta1, double beta2, double epsilon, double weightDecay) {}

    AdamRule(boolean isDecoupled, Constants constants) {
        String kind = kindOf(isDecoupled);
        ConstantsCheck.atLeastZero(kind, "rate", constants.rate);
        ConstantsCheck.belowOne(kind, "beta1", constants.beta1);
        ConstantsCheck.belowOne(kind, "beta2", constants.beta2);
        ConstantsCheck.atLeastZero(kind, "epsilon", constants.epsilon);
        ConstantsCheck.atLeastZero(kind, "weight decay", constants.weightDecay);
        this.isDecoupled = isDecoupled;
        this.constants = constants;
    }

    /** {@return the learning rate, 0 or more} */
    public double rate() {
        return constants.rate;
    }

    /** {@return the share of the average of gradients that each step keeps, at least 0 and less than 1} */
    public double beta1() {
        return constants.beta1;
    }

    /** {@return the share of the average of squared gradients that each step keeps, at least 0 and less than 1} */
    public double beta2() {
        return constants.beta2;
    }

    /** {@return the number that is added to the square root of the average of squared gradients, 0 or more} */
    public double epsilon() {
        return constants.epsilon;
    }

    /**
     * {@return the factor of the weight decay, 0 or more. Adam adds {@code weightDecay * p} to the gradient. AdamW
     * multiplies the parameter by {@code 1 - rate * weightDecay}}
     */
    public double weightDecay() {
        return constants.weightDecay;
    }

    /** {@return true for AdamW, false for Adam} */
    public boolean isDecoupled() {
        return isDecoupled;
    }

    /**
     * {@return this rule with another learning rate}
     *
     * @param newRate learning rate
     * @throws IllegalArgumentException if the rate is negative or not finite
     */
    public AdamRule withRate(double newRate) {
        return with(new Constants(newRate, beta1(), beta2(), epsilon(), weightDecay()));
    }

    /**
     * {@return this rule with other betas}
     *
     * @param newBeta1 share of the average of gradients that each step keeps
     * @param newBeta2 share of the average of squared gradients that each step keeps
     * @throws IllegalArgumentException if a beta is negative or not less than 1
     */
    public AdamRule withBetas(double newBeta1, double newBeta2) {
        return with(new Constants(rate(), newBeta1, newBeta2, epsilon(), weightDecay()));
    }

    /**
     * {@return this rule with another epsilon}
     *
     * @param newEpsilon number that is added to the square root of the average of squared gradients
     * @throws IllegalArgumentException if the epsilon is negative or not finite
     */
    public AdamRule withEpsilon(double newEpsilon) {
        return with(new Constants(rate(), beta1(), beta2(), newEpsilon, weightDecay()));
    }

    /**
     * {@return this rule with another weight decay}
     *
     * @param newWeightDecay factor of the weight decay
     * @throws IllegalArgumentException if the weight decay is negative or not finite
     */
    public AdamRule withWeightDecay(double newWeightDecay) {
        return with(new Constants(rate(), beta1(), beta2(), epsilon(), newWeightDecay));
    }

    @Override
    public String kind() {
        return kindOf(isDecoupled);
    }

    private static String kindOf(boolean isDecoupled) {
        return isDecoupled ? "adamw" : "adam";
    }

    @Override
    public List<String> stateNames() {
        return List.of("exp_avg", "exp_avg_sq");
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("rule", kind());
        settings.put("rate", Double.toString(constants.rate));
        settings.put("beta1", Double.toString(constants.beta1));
        settings.put("beta2", Double.toString(constants.beta2));
        settings.put("epsilon", Double.toString(constants.epsilon));
        settings.put("weightDecay", Double.toString(constants.weightDecay));
        return settings;
    }

    private AdamRule with(Constants changed) {
        return new AdamRule(isDecoupled, changed);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AdamRule that && isDecoupled == that.isDecoupled && constants.equals(that.constants);
    }

    @Override
    public int hashCode() {
        return constants.hashCode();
    }

    @Override
    public String toString() {
        return "AdamRule" + settings();
    }
}
