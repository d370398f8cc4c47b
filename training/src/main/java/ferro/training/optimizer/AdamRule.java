package ferro.training.optimizer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Adam and AdamW, as {@code torch.optim.Adam} and {@code torch.optim.AdamW} without {@code amsgrad}.
 *
 * <p>With gradient g, parameter p, averages m ({@code exp_avg}) and v ({@code exp_avg_sq}), of each element in step t, from 1 on:
 * <pre>
 * p = p * (1 - rate * weightDecay)                (AdamW, where weightDecay is not 0)
 * g = g + weightDecay * p                         (Adam, where weightDecay is not 0)
 * m = m + (1 - beta1) * (g - m)
 * v = beta2 * v + (1 - beta2) * g * g
 * p = p - rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
 * </pre>
 *
 * <p>Source: Kingma and Ba 2015, arXiv:1412.6980, and for AdamW Loshchilov and Hutter 2019, arXiv:1711.05101.
 *
 * @param rate learning rate, from 0 on
 * @param beta1 how much of the average of gradients stays in each step, from 0 to below 1
 * @param beta2 how much of the average of their squares stays in each step, from 0 to below 1
 * @param epsilon what is added to the root, from 0 on
 * @param weightDecay how much of the parameter is added to its gradient, or how fast the parameter shrinks
 * @param isDecoupled whether it is AdamW, where the weight decay shrinks the parameter, and not Adam
 */
public record AdamRule(double rate, double beta1, double beta2, double epsilon, double weightDecay, boolean isDecoupled)
        implements UpdateRule {
    /**
     * Checks the constants.
     *
     * @param rate learning rate
     * @param beta1 how much of the average of gradients stays in each step
     * @param beta2 how much of the average of their squares stays in each step
     * @param epsilon what is added to the root
     * @param weightDecay how much of the parameter is added to its gradient, or how fast the parameter shrinks
     * @param isDecoupled whether it is AdamW
     * @throws IllegalArgumentException if one is negative or not finite, or a beta is not below 1
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
     * Changes the rate.
     *
     * @param newRate learning rate
     * @return rule with this rate
     * @throws IllegalArgumentException if it is negative or not finite
     */
    public AdamRule withRate(double newRate) {
        return new AdamRule(newRate, beta1, beta2, epsilon, weightDecay, isDecoupled);
    }

    /**
     * Changes the betas.
     *
     * @param newBeta1 how much of the average of gradients stays in each step
     * @param newBeta2 how much of the average of their squares stays in each step
     * @return rule with these betas
     * @throws IllegalArgumentException if one is not from 0 to below 1
     */
    public AdamRule withBetas(double newBeta1, double newBeta2) {
        return new AdamRule(rate, newBeta1, newBeta2, epsilon, weightDecay, isDecoupled);
    }

    /**
     * Changes the epsilon.
     *
     * @param newEpsilon what is added to the root
     * @return rule with this epsilon
     * @throws IllegalArgumentException if it is negative or not finite
     */
    public AdamRule withEpsilon(double newEpsilon) {
        return new AdamRule(rate, beta1, beta2, newEpsilon, weightDecay, isDecoupled);
    }

    /**
     * Changes the weight decay.
     *
     * @param newWeightDecay how much of the parameter is added to its gradient, or how fast the parameter shrinks
     * @return rule with this weight decay
     * @throws IllegalArgumentException if it is negative or not finite
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
