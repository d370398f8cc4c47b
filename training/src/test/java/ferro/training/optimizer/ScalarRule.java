package ferro.training.optimizer;

import ferro.DataType;

/**
 * A rule for one element at a time, from its formulas. It computes in double and rounds each result to the type of the elements, which
 * gives the bits of that type for additions, products, quotients and roots, since double has more than twice the bits of f32.
 */
final class ScalarRule {
    private final UpdateRule rule;
    private final boolean isFloat;
    private long step;
    private double rate;

    ScalarRule(UpdateRule rule, DataType type) {
        this.rule = rule;
        this.isFloat = type == DataType.FLOAT32;
    }

    void begin(long newStep, double newRate) {
        step = newStep;
        rate = newRate;
    }

    /** Returns the new parameter; changes the state. */
    double update(double parameter, double gradient, double[] state) {
        return rule instanceof SgdRule sgd
                ? sgd(sgd, parameter, gradient, state)
                : adam((AdamRule) rule, parameter, gradient, state);
    }

    private double sgd(SgdRule sgd, double p, double gradient, double[] state) {
        double g = gradient;
        if (sgd.weightDecay() != 0) {
            g = r(g + r(r(sgd.weightDecay()) * p));
        }
        if (sgd.momentum() != 0) {
            state[0] = step == 1 ? g : r(r(r(sgd.momentum()) * state[0]) + r(r(1 - sgd.dampening()) * g));
            g = sgd.nesterov() ? r(g + r(r(sgd.momentum()) * state[0])) : state[0];
        }
        return r(p - r(r(rate) * g));
    }

    private double adam(AdamRule adam, double parameter, double gradient, double[] state) {
        double p = parameter;
        double g = gradient;
        if (adam.weightDecay() != 0 && adam.isDecoupled()) {
            p = r(p * r(1 - rate * adam.weightDecay()));
        } else if (adam.weightDecay() != 0) {
            g = r(g + r(r(adam.weightDecay()) * p));
        }
        double weight = r(1 - adam.beta1());
        double apart = r(g - state[0]);
        state[0] = weight < 0.5 ? r(state[0] + r(weight * apart)) : r(g - r(apart * r(1 - weight)));
        double square = r(r(r(1 - adam.beta2()) * g) * g);
        state[1] = r(r(r(adam.beta2()) * state[1]) + square);
        double size = rate / (1 - StrictMath.pow(adam.beta1(), step));
        double correction = r(StrictMath.sqrt(1 - StrictMath.pow(adam.beta2(), step)));
        double root = r(r(r(StrictMath.sqrt(state[1])) / correction) + r(adam.epsilon()));
        return r(p - r(r(r(size) * state[0]) / root));
    }

    private double r(double exact) {
        return isFloat ? (float) exact : exact;
    }
}
