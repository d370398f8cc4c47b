package ferro.training.optimizer;

import java.util.List;

/** An update by {@link AdamRule}. The operations have the order of the formulas of the rule. */
final class AdamUpdate implements BlockUpdate {
    private final AdamRule rule;
    private final BlockBuffer.AdamFactors factors = new BlockBuffer.AdamFactors();
    private double rate;

    AdamUpdate(AdamRule rule) {
        this.rule = rule;
        factors.epsilon = rule.epsilon();
    }

    @Override
    public void begin(long step, double newRate) {
        rate = newRate;
        // StrictMath gives the same bits on all machines
        factors.factor = -(newRate / (1 - StrictMath.pow(rule.beta1(), step)));
        factors.correction = Math.sqrt(1 - StrictMath.pow(rule.beta2(), step));
    }

    @Override
    public void update(BlockBuffer parameters, BlockBuffer gradients, List<BlockBuffer> state, int count) {
        if (rule.weightDecay() != 0 && rule.isDecoupled()) {
            parameters.scale(1 - rate * rule.weightDecay(), count);
        } else if (rule.weightDecay() != 0) {
            gradients.addScaled(rule.weightDecay(), parameters, count);
        }
        BlockBuffer average = state.get(0);
        BlockBuffer square = state.get(1);
        average.moveTowards(gradients, 1 - rule.beta1(), count);
        square.scale(rule.beta2(), count);
        square.addSquares(1 - rule.beta2(), gradients, count);
        parameters.addRatio(factors, average, square, count);
    }
}
