package ferro.training.optimizer;

import java.util.List;

/** An update by {@link SgdRule}. The operations have the order of the formulas of the rule. */
final class SgdUpdate implements BlockUpdate {
    private final SgdRule rule;
    private boolean isFirst;
    private double rate;

    SgdUpdate(SgdRule rule) {
        this.rule = rule;
    }

    @Override
    public void begin(long step, double newRate) {
        isFirst = step == 1;
        rate = newRate;
    }

    @Override
    public void update(BlockBuffer parameters, BlockBuffer gradients, List<BlockBuffer> state, int count) {
        if (rule.weightDecay() != 0) {
            gradients.addScaled(rule.weightDecay(), parameters, count);
        }
        BlockBuffer slope = state.isEmpty() ? gradients : slope(gradients, state.get(0), count);
        parameters.addScaled(-rate, slope, count);
    }

    private BlockBuffer slope(BlockBuffer gradients, BlockBuffer buffer, int count) {
        if (isFirst) {
            buffer.copy(gradients, count);
        } else {
            buffer.scale(rule.momentum(), count);
            buffer.addScaled(1 - rule.dampening(), gradients, count);
        }
        if (!rule.nesterov()) {
            return buffer;
        }
        gradients.addScaled(rule.momentum(), buffer, count);
        return gradients;
    }
}
