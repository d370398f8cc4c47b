package ferro.djl;

/**
 * An Adam optimizer that computes the same bits as {@link ai.djl.training.optimizer.Adam}, and whose state can be
 * saved. A weight decay is added to the gradient.
 *
 * <p>The state has the names {@code exp_avg} and {@code exp_avg_sq}, as in PyTorch.
 */
public final class DjlAdam extends AdamOptimizer {
    private DjlAdam(DjlAdamBuilder builder) {
        super(builder, false);
    }

    /** {@return a builder for this optimizer, with DJL's defaults} */
    public static DjlAdamBuilder builder() {
        return new DjlAdamBuilder();
    }

    /** The builder of the optimizer. The builder has the same method names and defaults as DJL's own builder. */
    public static final class DjlAdamBuilder extends AdamBuilder<DjlAdamBuilder> {
        private DjlAdamBuilder() {}

        @Override
        protected DjlAdamBuilder self() {
            return this;
        }

        /** {@return a new optimizer} */
        public DjlAdam build() {
            return new DjlAdam(this);
        }
    }
}
