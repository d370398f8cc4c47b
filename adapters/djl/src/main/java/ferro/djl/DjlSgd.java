package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.tracker.ParameterTracker;
import ai.djl.training.tracker.Tracker;
import java.util.List;
import java.util.Objects;

/**
 * Stochastic gradient descent as {@link ai.djl.training.optimizer.Sgd} computes it, bit by bit, with a state that can be saved.
 *
 * <p>With a momentum it remembers {@code scaled_momentum_buffer}: unlike PyTorch's buffer, DJL's holds gradients that have been
 * multiplied by the learning rate already. Without one it remembers nothing.
 */
public final class DjlSgd extends StatefulOptimizer {
    private static final String BUFFER = "scaled_momentum_buffer";

    private final ParameterTracker learningRate;
    private final float momentum;

    private DjlSgd(DjlSgdBuilder builder) {
        super(builder);
        learningRate = builder.learningRate;
        momentum = builder.momentum;
    }

    /**
     * Begins one.
     *
     * @return settings: a learning rate of 0.001, no momentum
     */
    public static DjlSgdBuilder builder() {
        return new DjlSgdBuilder();
    }

    @Override
    List<String> stateNames() {
        return momentum == 0 ? List.of() : List.of(BUFFER);
    }

    @Override
    public void update(String parameterId, NDArray weight, NDArray grad) {
        float rate = learningRate.getNewValue(parameterId, nextStep(parameterId));
        NDList inputs = new NDList(weight, grad);
        if (momentum != 0) {
            inputs.add(remembered(BUFFER, parameterId, weight));
        }
        weight.getNDArrayInternal()
                .sgdUpdate(inputs, new NDList(weight), rate, getWeightDecay(), rescaleGrad, clipGrad, momentum, true);
    }

    /** Settings; names are those of DJL's own builder. */
    public static final class DjlSgdBuilder extends OptimizerBuilder<DjlSgdBuilder> {
        private ParameterTracker learningRate = Tracker.fixed(0.001f);
        private float momentum;

        private DjlSgdBuilder() {}

        /**
         * Sets the learning rate.
         *
         * @param tracker says the rate of each step
         * @return this builder
         */
        public DjlSgdBuilder setLearningRateTracker(ParameterTracker tracker) {
            learningRate = Objects.requireNonNull(tracker, "tracker");
            return this;
        }

        /**
         * Sets the momentum.
         *
         * @param share what is kept of the step before, from 0 to below 1
         * @return this builder
         * @throws IllegalArgumentException if it is not in that range
         */
        public DjlSgdBuilder optMomentum(float share) {
            if (!(share >= 0 && share < 1)) {
                throw new IllegalArgumentException("need a momentum from 0 to below 1, found " + share);
            }
            momentum = share;
            return this;
        }

        @Override
        protected DjlSgdBuilder self() {
            return this;
        }

        /**
         * Makes the optimizer.
         *
         * @return optimizer
         */
        public DjlSgd build() {
            return new DjlSgd(this);
        }
    }
}
