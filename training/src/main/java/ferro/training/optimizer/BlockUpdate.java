package ferro.training.optimizer;

import java.util.List;

/** A rule, block by block. One thread at a time. */
interface BlockUpdate {
    /**
     * Makes the steps of a rule.
     *
     * @param rule rule
     * @return its steps
     */
    static BlockUpdate of(UpdateRule rule) {
        if (rule instanceof SgdRule sgd) {
            return new SgdUpdate(sgd);
        }
        return new AdamUpdate((AdamRule) rule);
    }

    /**
     * Computes what all elements have in common.
     *
     * @param step number of the step, from 1 on
     * @param rate learning rate of this step
     */
    void begin(long step, double rate);

    /**
     * Updates a block.
     *
     * @param parameters changed
     * @param gradients changed too, where the rule needs room
     * @param state changed; in the order of the rule's {@link UpdateRule#stateNames}
     * @param count elements
     */
    void update(ElementBlock parameters, ElementBlock gradients, List<ElementBlock> state, int count);
}
