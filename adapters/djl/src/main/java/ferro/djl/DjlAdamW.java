package ferro.djl;

/**
 * An AdamW optimizer that computes the same bits as {@link ai.djl.training.optimizer.AdamW}, and whose state can be
 * saved. A weight decay, 0.01 by default, shrinks the parameters themselves.
 *
 * <p>The state has the names {@code exp_avg} and {@code exp_avg_sq}, as in PyTorch.
 */
public final class DjlAdamW extends AdamOptimizer {
    private DjlAdamW(DjlAdamWBuilder builder) {
        super(builder, true);
    }

    /** {@return a builder for this optimizer, with DJL's defaults} */
    public static DjlAdamWBuilder builder() {
        return new DjlAdamWBuilder();
    }

    /** The builder of the optimizer. The builder has the same method names and defaults as DJL's own builder. */
    public static final class DjlAdamWBuilder extends AdamBuilder<DjlAdamWBuilder> {
        private DjlAdamWBuilder() {
            optWeightDecays(0.01f);
        }

        @Override
        protected DjlAdamWBuilder self() {
            return this;
        }

        /** {@return a new optimizer} */
        public DjlAdamW build() {
            return new DjlAdamW(this);
        }
    }
}
