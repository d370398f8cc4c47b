package ferro.training.optimizer;

import java.util.List;

/** An update of tensors by a rule, one block at a time. Only one thread at a time may use an update. */
interface BlockUpdate {
    /**
     * Creates the update of a rule.
     *
     * @param rule optimizer and its settings
     * @return the update of the rule
     */
    static BlockUpdate of(UpdateRule rule) {
        return rule instanceof SgdRule sgd ? new SgdUpdate(sgd) : new AdamUpdate((AdamRule) rule);
    }

    /**
     * Begins a step. Computes the values that all elements of the step share.
     *
     * @param step number of the step, from 1
     * @param rate learning rate of this step
     */
    void begin(long step, double rate);

    /**
     * Updates a block.
     *
     * @param parameters parameters, which are changed
     * @param gradients gradients, which are changed if the rule uses the block of gradients as scratch memory
     * @param state state, which is changed, in the order of {@link UpdateRule#stateNames}
     * @param count number of elements
     */
    void update(BlockBuffer parameters, BlockBuffer gradients, List<BlockBuffer> state, int count);
}
