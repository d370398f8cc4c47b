package ferro.training.optimizer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stochastic gradient descent, with momentum if the momentum is not 0, as in {@code torch.optim.SGD}.
 *
 * <p>Each element has a gradient g, a parameter p and a momentum buffer b. A step computes:
 * <pre>
 * g = g + weightDecay * p                         (if weightDecay is not 0)
 * b = momentum * b + (1 - dampening) * g          (b = g in the first step)
 * g = nesterov ? g + momentum * b : b             (if momentum is not 0)
 * p = p - rate * g
 * </pre>
 *
 * <p>Source: Sutskever, Martens, Dahl and Hinton 2013, "On the importance of initialization and momentum in deep
 * learning". The form is the form of PyTorch, in which the buffer does not contain the rate.
 */
public final class SgdRule implements UpdateRule {
    private final double rate;
    private final double momentum;
    private final double dampening;
    private final double weightDecay;
    private final boolean nesterov;

    SgdRule(double rate, double momentum, double dampening, double weightDecay, boolean nesterov) {
        ConstantsCheck.atLeastZero("sgd", "rate", rate);
        ConstantsCheck.atLeastZero("sgd", "momentum", momentum);
        ConstantsCheck.atLeastZero("sgd", "weight decay", weightDecay);
        if (!Double.isFinite(dampening) || nesterov && (momentum == 0 || dampening != 0)) {
            throw new IllegalArgumentException(
                    "sgd with nesterov=" + nesterov + ": dampening must be finite, and Nesterov momentum needs a"
                            + " momentum above 0 and a dampening of 0, found momentum " + momentum + " and dampening "
                            + dampening);
        }
        this.rate = rate;
        this.momentum = momentum;
        this.dampening = dampening;
        this.weightDecay = weightDecay;
        this.nesterov = nesterov;
    }

    /** {@return the learning rate, 0 or more} */
    public double rate() {
        return rate;
    }

    /** {@return the share of the buffer that each step keeps, 0 or more; 0 for no buffer} */
    public double momentum() {
        return momentum;
    }

    /** {@return the share of the gradient that is not added to the buffer} */
    public double dampening() {
        return dampening;
    }

    /** {@return the factor of the parameter that is added to its gradient, 0 or more} */
    public double weightDecay() {
        return weightDecay;
    }

    /** {@return whether to use Nesterov momentum} */
    public boolean nesterov() {
        return nesterov;
    }

    /**
     * {@return this rule with another learning rate}
     *
     * @param newRate learning rate
     * @throws IllegalArgumentException if the rate is negative or not finite
     */
    public SgdRule withRate(double newRate) {
        return new SgdRule(newRate, momentum, dampening, weightDecay, nesterov);
    }

    /**
     * {@return this rule with plain momentum instead of Nesterov momentum, and without dampening}
     *
     * @param newMomentum share of the buffer that each step keeps; 0 for no buffer
     * @throws IllegalArgumentException if the momentum is negative or not finite
     */
    public SgdRule withMomentum(double newMomentum) {
        return new SgdRule(rate, newMomentum, 0, weightDecay, false);
    }

    /**
     * {@return this rule with Nesterov momentum, and without dampening}
     *
     * @param newMomentum share of the buffer that each step keeps
     * @throws IllegalArgumentException if the momentum is not positive or not finite
     */
    public SgdRule withNesterov(double newMomentum) {
        return new SgdRule(rate, newMomentum, 0, weightDecay, true);
    }

    /**
     * {@return this rule with another dampening}
     *
     * @param newDampening share of the gradient that is not added to the buffer
     * @throws IllegalArgumentException if the dampening is not finite, or is not 0 with Nesterov momentum
     */
    public SgdRule withDampening(double newDampening) {
        return new SgdRule(rate, momentum, newDampening, weightDecay, nesterov);
    }

    /**
     * {@return this rule with another weight decay}
     *
     * @param newWeightDecay factor of the parameter that is added to its gradient
     * @throws IllegalArgumentException if the weight decay is negative or not finite
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

    @Override
    public String toString() {
        return "SgdRule[rate=" + rate + ", momentum=" + momentum + ", dampening=" + dampening + ", weightDecay="
                + weightDecay + ", nesterov=" + nesterov + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SgdRule that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(rate, momentum, dampening, weightDecay, nesterov);
    }
}
