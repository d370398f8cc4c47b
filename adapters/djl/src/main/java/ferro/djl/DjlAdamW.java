package ferro.djl;

/**
 * AdamW as {@link ai.djl.training.optimizer.AdamW} computes it, bit by bit, with a state that can be saved. A weight decay, 0.01 by default,
 * shrinks the parameters themselves.
 *
 * <p>What it remembers is called {@code exp_avg} and {@code exp_avg_sq}, as in PyTorch.
 */
public final class DjlAdamW extends AdamOptimizer {
    private DjlAdamW(Builder builder) {
        super(builder, true);
    }

    /**
     * Begins one.
     *
     * @return settings, with DJL's defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Settings; names and defaults are those of DJL's own builder. */
    public static final class Builder extends AdamBuilder<Builder> {
        private Builder() {
            optWeightDecays(0.01f);
        }

        @Override
        protected Builder self() {
            return this;
        }

        /**
         * Makes the optimizer.
         *
         * @return optimizer
         */
        public DjlAdamW build() {
            return new DjlAdamW(this);
        }
    }
}
