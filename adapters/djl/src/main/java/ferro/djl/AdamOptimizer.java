package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.tracker.ParameterTracker;
import ai.djl.training.tracker.Tracker;
import java.util.List;
import java.util.Objects;

/** The common part of {@link DjlAdam} and {@link DjlAdamW}, which differ only in the effect of weight decay. */
abstract sealed class AdamOptimizer extends StatefulOptimizer permits DjlAdam, DjlAdamW {
    private static final String MEAN = "exp_avg";
    private static final String VARIANCE = "exp_avg_sq";

    private final ParameterTracker learningRate;
    private final float beta1;
    private final float beta2;
    private final float epsilon;
    private final boolean isDecoupled;

    AdamOptimizer(AdamBuilder<?> builder, boolean isDecoupled) {
        super(builder);
        this.isDecoupled = isDecoupled;
        learningRate = builder.learningRate;
        beta1 = builder.beta1;
        beta2 = builder.beta2;
        epsilon = builder.epsilon;
    }

    @Override
    final List<String> stateNames() {
        return List.of(MEAN, VARIANCE);
    }

    /**
     * Updates a parameter.
     *
     * @param parameterId DJL's id of the parameter
     * @param weight the values of the parameter
     * @param grad the gradient of the parameter
     * @throws IllegalArgumentException if the learning rate is NaN or infinite
     */
    @Override
    public final void update(String parameterId, NDArray weight, NDArray grad) {
        int step = nextStep(parameterId);
        float rate = learningRate.getNewValue(parameterId, step);
        double first = 1.0 - Math.pow(beta1, step);
        double second = 1.0 - Math.pow(beta2, step);
        float corrected = (float) (rate * Math.sqrt(second) / first);
        if (!Float.isFinite(rate) || !Float.isFinite(corrected)) {
            throw new IllegalArgumentException("step " + step + ": need a finite learning rate, found " + rate);
        }
        NDList inputs = new NDList(
                weight, grad, remembered(MEAN, parameterId, weight), remembered(VARIANCE, parameterId, weight));
        weight.getNDArrayInternal()
                .adamUpdate(
                        inputs,
                        new NDList(weight),
                        rate,
                        corrected,
                        getWeightDecay(),
                        rescaleGrad,
                        clipGrad,
                        beta1,
                        beta2,
                        epsilon,
                        true,
                        isDecoupled);
    }

    /**
     * The common builder of {@link DjlAdam} and {@link DjlAdamW}. The builder has the same method names and defaults as
     * DJL's own builders.
     *
     * @param <T> the builder itself
     */
    abstract static sealed class AdamBuilder<T extends AdamBuilder<T>> extends OptimizerBuilder<T>
            permits DjlAdam.DjlAdamBuilder, DjlAdamW.DjlAdamWBuilder {
        private ParameterTracker learningRate = Tracker.fixed(0.001f);
        private float beta1 = 0.9f;
        private float beta2 = 0.999f;
        private float epsilon = 1e-8f;

        /**
         * Sets the learning rate.
         *
         * @param tracker the tracker that returns the learning rate of each step
         * @return this builder
         * @throws NullPointerException if {@code tracker} is null
         */
        public T optLearningRateTracker(ParameterTracker tracker) {
            learningRate = Objects.requireNonNull(tracker, "tracker");
            return self();
        }

        /**
         * Sets the decay rate of the moving mean of the gradients.
         *
         * @param rate the decay rate; the default is 0.9
         * @return this builder
         * @throws IllegalArgumentException if {@code rate} is negative, or not less than 1
         */
        public T optBeta1(float rate) {
            beta1 = checked("beta1", rate);
            return self();
        }

        /**
         * Sets the decay rate of the moving mean of the squared gradients.
         *
         * @param rate the decay rate; the default is 0.999
         * @return this builder
         * @throws IllegalArgumentException if {@code rate} is negative, or not less than 1
         */
        public T optBeta2(float rate) {
            beta2 = checked("beta2", rate);
            return self();
        }

        /**
         * Sets the number that is added to the square root of the mean of the squared gradients.
         *
         * @param added the number; the default is 1e-8
         * @return this builder
         * @throws IllegalArgumentException if {@code added} is negative or NaN
         */
        public T optEpsilon(float added) {
            if (!(added >= 0)) {
                throw new IllegalArgumentException("epsilon must be at least 0, found " + added);
            }
            epsilon = added;
            return self();
        }

        private static float checked(String name, float rate) {
            if (!(rate >= 0 && rate < 1)) {
                throw new IllegalArgumentException(name + " must be at least 0 and less than 1, found " + rate);
            }
            return rate;
        }

        @Override
        protected abstract T self();
    }
}
