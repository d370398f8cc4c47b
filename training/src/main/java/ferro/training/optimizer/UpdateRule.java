package ferro.training.optimizer;

import java.util.List;
import java.util.Map;

/**
 * How an optimizer changes parameters by their gradients: a kind, and its constants.
 *
 * <p>Formulas, defaults and the order of operations are those of PyTorch ({@code torch.optim}, one tensor at a time), so that settings
 * found there work here. Elements are f32 or f64. What depends on the step alone, such as the correction of the bias of Adam, is
 * computed in double and rounded once.
 *
 * <p>Immutable; any thread may use it.
 */
public sealed interface UpdateRule permits SgdRule, AdamRule {
    /**
     * Returns stochastic gradient descent without momentum, at a rate of 0.001.
     *
     * @return rule, to be changed by its {@code with} methods
     */
    static SgdRule sgd() {
        return new SgdRule(1e-3, 0, 0, 0, false);
    }

    /**
     * Returns Adam at a rate of 0.001, with betas 0.9 and 0.999, epsilon 1e-8 and no weight decay; a weight decay is added to the
     * gradient.
     *
     * @return rule, to be changed by its {@code with} methods
     */
    static AdamRule adam() {
        return new AdamRule(1e-3, 0.9, 0.999, 1e-8, 0, false);
    }

    /**
     * Returns AdamW at a rate of 0.001, with betas 0.9 and 0.999, epsilon 1e-8 and a weight decay of 0.01, which shrinks the parameters
     * themselves.
     *
     * @return rule, to be changed by its {@code with} methods
     */
    static AdamRule adamW() {
        return new AdamRule(1e-3, 0.9, 0.999, 1e-8, 1e-2, true);
    }

    /**
     * Says what kind of rule it is.
     *
     * @return {@code sgd}, {@code adam} or {@code adamw}
     */
    String kind();

    /**
     * Says at which rate an optimizer begins.
     *
     * @return learning rate, from 0 on
     */
    double rate();

    /**
     * Says what an optimizer remembers of each element, by the names of PyTorch.
     *
     * @return names, such as {@code exp_avg}; none for a rule that remembers nothing
     */
    List<String> stateNames();

    /**
     * Says all constants, the rate among them.
     *
     * @return values by name, in one order; numbers read back by {@link Double#parseDouble} are the same
     */
    Map<String, String> settings();
}
