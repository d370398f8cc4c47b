package ferro.djl;

/**
 * AdamW as {@link ai.djl.training.optimizer.AdamW} computes it, bit by bit, with a state that can be saved. A weight decay, 0.01 by default,
 * shrinks the parameters themselves.
 *
 * <p>What it remembers is called {@code exp_avg} and {@code exp_avg_sq}, as in PyTorch.
 */
public final class DjlAdamW extends AdamOptimizer {
    private DjlAdamW(DjlAdamWBuilder builder) {
        super(builder, true);
    }

    /**
     * Begins one.
     *
     * @return settings, with DJL's defaults
     */
    public static DjlAdamWBuilder builder() {
        return new DjlAdamWBuilder();
    }

    /** Settings; names and defaults are those of DJL's own builder. */
    public static final class DjlAdamWBuilder extends AdamBuilder<DjlAdamWBuilder> {
        private DjlAdamWBuilder() {
            optWeightDecays(0.01f);
        }

        @Override
        protected DjlAdamWBuilder self() {
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
