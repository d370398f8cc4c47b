package ferro.training.optimizer;

import java.util.List;
import java.util.Map;

/**
 * A rule by which an optimizer changes parameters with their gradients. A rule has a kind and constants.
 *
 * <p>Formulas, defaults and the order of operations are the same as in PyTorch ({@code torch.optim}, for one tensor at
 * a time). Settings that work with PyTorch therefore work in ferro. Elements are f32 or f64. Values that depend only on
 * the step, such as Adam's bias correction, are computed in double and rounded once.
 *
 * <p>A rule is immutable, and any thread may use a rule.
 */
public sealed interface UpdateRule permits SgdRule, AdamRule {
    /**
     * {@return stochastic gradient descent without momentum and with rate 0.001; its {@code with} methods change
     * constants}
     */
    static SgdRule sgd() {
        return new SgdRule(1e-3, 0, 0, 0, false);
    }

    /**
     * {@return Adam with a rate of 0.001, betas of 0.9 and 0.999, an epsilon of 1e-8 and no weight decay; its
     * {@code with} methods change constants. In Adam, the weight decay is added to the gradient}
     */
    static AdamRule adam() {
        return new AdamRule(false, new AdamRule.Constants(1e-3, 0.9, 0.999, 1e-8, 0));
    }

    /**
     * {@return AdamW with a rate of 0.001, betas of 0.9 and 0.999, an epsilon of 1e-8 and a weight decay of 0.01; its
     * {@code with} methods change constants. In AdamW, weight decay multiplies the parameters by
     * {@code 1 - rate * weightDecay}}
     */
    static AdamRule adamW() {
        return new AdamRule(true, new AdamRule.Constants(1e-3, 0.9, 0.999, 1e-8, 1e-2));
    }

    /** {@return the kind of this rule: {@code sgd}, {@code adam} or {@code adamw}} */
    String kind();

    /** {@return the learning rate with which an optimizer begins, 0 or more} */
    double rate();

    /**
     * {@return the names of the values that an optimizer stores for each element. The list is empty for a rule without
     * state. The names are the names in PyTorch, such as {@code exp_avg}}
     */
    List<String> stateNames();

    /**
     * {@return all constants including the rate, by name, always in the same order; {@link Double#parseDouble} restores
     * the exact numbers}
     */
    Map<String, String> settings();
}
