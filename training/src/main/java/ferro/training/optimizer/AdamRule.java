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
 *
 * @param rate learning rate, 0 or more
 * @param beta1 share of the average of gradients that each step keeps, at least 0 and less than 1
 * @param beta2 share of the average of squared gradients that each step keeps, at least 0 and less than 1
 * @param epsilon number that is added to the square root, 0 or more
 * @param weightDecay factor of the weight decay, 0 or more: Adam adds {@code weightDecay * p} to the gradient, AdamW
 *     shrinks the parameter itself
 * @param isDecoupled true for AdamW, false for Adam
 */
public record AdamRule(double rate, double beta1, double beta2, double epsilon, double weightDecay, boolean isDecoupled)
        implements UpdateRule {
    /**
     * Checks the constants.
     *
     * @param rate learning rate
     * @param beta1 share of the average of gradients that each step keeps
     * @param beta2 share of the average of squared gradients that each step keeps
     * @param epsilon number that is added to the square root
     * @param weightDecay factor of the weight decay
     * @param isDecoupled true for AdamW, false for Adam
     * @throws IllegalArgumentException if a constant is negative or not finite, or if a beta is not less than 1
     */
    public AdamRule {
        String kind = kindOf(isDecoupled);
        RuleConstants.atLeastZero(kind, "rate", rate);
        RuleConstants.belowOne(kind, "beta1", beta1);
        RuleConstants.belowOne(kind, "beta2", beta2);
        RuleConstants.atLeastZero(kind, "epsilon", epsilon);
        RuleConstants.atLeastZero(kind, "weight decay", weightDecay);
    }

    /**
     * Returns this rule with another learning rate.
     *
     * @param newRate learning rate
     * @return rule with this rate
     * @throws IllegalArgumentException if the rate is negative or not finite
     */
    public AdamRule withRate(double newRate) {
        return new AdamRule(newRate, beta1, beta2, epsilon, weightDecay, isDecoupled);
    }

    /**
     * Returns this rule with other betas.
     *
     * @param newBeta1 share of the average of gradients that each step keeps
     * @param newBeta2 share of the average of squared gradients that each step keeps
     * @return rule with these betas
     * @throws IllegalArgumentException if a beta is negative or not less than 1
     */
    public AdamRule withBetas(double newBeta1, double newBeta2) {
        return new AdamRule(rate, newBeta1, newBeta2, epsilon, weightDecay, isDecoupled);
    }

    /**
     * Returns this rule with another epsilon.
     *
     * @param newEpsilon number that is added to the square root
     * @return rule with this epsilon
     * @throws IllegalArgumentException if the epsilon is negative or not finite
     */
    public AdamRule withEpsilon(double newEpsilon) {
        return new AdamRule(rate, beta1, beta2, newEpsilon, weightDecay, isDecoupled);
    }

    /**
     * Returns this rule with another weight decay.
     *
     * @param newWeightDecay factor of the weight decay
     * @return rule with this weight decay
     * @throws IllegalArgumentException if the weight decay is negative or not finite
     */
    public AdamRule withWeightDecay(double newWeightDecay) {
        return new AdamRule(rate, beta1, beta2, epsilon, newWeightDecay, isDecoupled);
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
        settings.put("rate", Double.toString(rate));
        settings.put("beta1", Double.toString(beta1));
        settings.put("beta2", Double.toString(beta2));
        settings.put("epsilon", Double.toString(epsilon));
        settings.put("weightDecay", Double.toString(weightDecay));
        return settings;
    }
}
