package ferro.djl;

/**
 * Adam as {@link ai.djl.training.optimizer.Adam} computes it, bit by bit, with a state that can be saved. A weight decay is added to the gradient.
 *
 * <p>What it remembers is called {@code exp_avg} and {@code exp_avg_sq}, as in PyTorch.
 */
public final class DjlAdam extends AdamOptimizer {
    private DjlAdam(DjlAdamBuilder builder) {
        super(builder, false);
    }

    /**
     * Begins one.
     *
     * @return settings, with DJL's defaults
     */
    public static DjlAdamBuilder builder() {
        return new DjlAdamBuilder();
    }

    /** Settings; names and defaults are those of DJL's own builder. */
    public static final class DjlAdamBuilder extends AdamBuilder<DjlAdamBuilder> {
        private DjlAdamBuilder() {}

        @Override
        protected DjlAdamBuilder self() {
            return this;
        }

        /**
         * Makes the optimizer.
         *
         * @return optimizer
         */
        public DjlAdam build() {
            return new DjlAdam(this);
        }
    }
}
