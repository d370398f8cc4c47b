package ferro.training.optimizer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stochastic gradient descent, with momentum if it is not 0, as {@code torch.optim.SGD}.
 *
 * <p>With gradient g, parameter p and momentum buffer b, of each element:
 * <pre>
 * g = g + weightDecay * p                         (where weightDecay is not 0)
 * b = momentum * b + (1 - dampening) * g          (b = g in the first step)
 * g = nesterov ? g + momentum * b : b             (where momentum is not 0)
 * p = p - rate * g
 * </pre>
 *
 * <p>Source: Sutskever, Martens, Dahl and Hinton 2013, "On the importance of initialization and momentum in deep learning", in the form
 * of PyTorch, where the rate is outside of the buffer.
 *
 * @param rate learning rate, from 0 on
 * @param momentum how much of the buffer stays in each step; 0 for no buffer
 * @param dampening how much of the gradient the buffer leaves out
 * @param weightDecay how much of the parameter is added to its gradient
 * @param nesterov whether the step looks ahead by the momentum
 */
public record SgdRule(double rate, double momentum, double dampening, double weightDecay, boolean nesterov)
        implements UpdateRule {
    /**
     * Checks the constants.
     *
     * @param rate learning rate
     * @param momentum how much of the buffer stays in each step
     * @param dampening how much of the gradient the buffer leaves out
     * @param weightDecay how much of the parameter is added to its gradient
     * @param nesterov whether the step looks ahead by the momentum
     * @throws IllegalArgumentException if the rate, the momentum or the weight decay is negative or not finite, or Nesterov's momentum is
     *     asked for without momentum or with dampening
     */
    public SgdRule {
        RuleConstants.atLeastZero("sgd", "rate", rate);
        RuleConstants.atLeastZero("sgd", "momentum", momentum);
        RuleConstants.atLeastZero("sgd", "weight decay", weightDecay);
        if (!Double.isFinite(dampening) || nesterov && (momentum == 0 || dampening != 0)) {
            throw new IllegalArgumentException(
                    "sgd with nesterov=" + nesterov + ": need a finite dampening, and for Nesterov's momentum a"
                            + " momentum above 0 and a dampening of 0, found momentum " + momentum + " and dampening "
                            + dampening);
        }
    }

    /**
     * Changes the rate.
     *
     * @param newRate learning rate
     * @return rule with this rate
     * @throws IllegalArgumentException if it is negative or not finite
     */
    public SgdRule withRate(double newRate) {
        return new SgdRule(newRate, momentum, dampening, weightDecay, nesterov);
    }

    /**
     * Changes the momentum, without Nesterov's step and without dampening.
     *
     * @param newMomentum how much of the buffer stays in each step; 0 for no buffer
     * @return rule with this momentum
     * @throws IllegalArgumentException if it is negative or not finite
     */
    public SgdRule withMomentum(double newMomentum) {
        return new SgdRule(rate, newMomentum, 0, weightDecay, false);
    }

    /**
     * Changes the momentum, with Nesterov's step and without dampening.
     *
     * @param newMomentum how much of the buffer stays in each step
     * @return rule with this momentum
     * @throws IllegalArgumentException if it is not positive or not finite
     */
    public SgdRule withNesterov(double newMomentum) {
        return new SgdRule(rate, newMomentum, 0, weightDecay, true);
    }

    /**
     * Changes the dampening.
     *
     * @param newDampening how much of the gradient the buffer leaves out
     * @return rule with this dampening
     * @throws IllegalArgumentException if it is not finite, or not 0 with Nesterov's momentum
     */
    public SgdRule withDampening(double newDampening) {
        return new SgdRule(rate, momentum, newDampening, weightDecay, nesterov);
    }

    /**
     * Changes the weight decay.
     *
     * @param newWeightDecay how much of the parameter is added to its gradient
     * @return rule with this weight decay
     * @throws IllegalArgumentException if it is negative or not finite
     */
    public SgdRule withWeightDecay(double newWeightDecay) {
        return new SgdRule(rate, momentum, dampening, newWeightDecay, nesterov);
    }

    @Override
    public String kind() {
        return "sgd";
    }

    @Override
    public List<String> stateNames() {
        return momentum == 0 ? List.of() : List.of("momentum_buffer");
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("rule", kind());
        settings.put("rate", Double.toString(rate));
        settings.put("momentum", Double.toString(momentum));
        settings.put("dampening", Double.toString(dampening));
        settings.put("weightDecay", Double.toString(weightDecay));
        settings.put("nesterov", Boolean.toString(nesterov));
        return settings;
    }
}
