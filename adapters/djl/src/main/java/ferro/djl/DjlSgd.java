package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.tracker.ParameterTracker;
import ai.djl.training.tracker.Tracker;
import java.util.List;
import java.util.Objects;

/**
 * A stochastic gradient descent optimizer that computes the same bits as {@link ai.djl.training.optimizer.Sgd}, and
 * whose state can be saved.
 *
 * <p>With a momentum, the state has the name {@code scaled_momentum_buffer}. The gradients in this buffer have already
 * been multiplied by the learning rate, unlike the gradients in PyTorch's buffer. Without a momentum the optimizer has
 * no state.
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

    /** {@return a builder for this optimizer, with a learning rate of 0.001 and without momentum} */
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

    /** The builder of the optimizer. The builder has the same method names as DJL's own builder. */
    public static final class DjlSgdBuilder extends OptimizerBuilder<DjlSgdBuilder> {
        private ParameterTracker learningRate = Tracker.fixed(0.001f);
        private float momentum;

        private DjlSgdBuilder() {}

        /**
         * Sets the learning rate.
         *
         * @param tracker the tracker that returns the learning rate of each step
         * @return this builder
         */
        public DjlSgdBuilder setLearningRateTracker(ParameterTracker tracker) {
            learningRate = Objects.requireNonNull(tracker, "tracker");
            return this;
        }

        /**
         * Sets the momentum.
         *
         * @param share the part of the previous update that is kept; at least 0 and less than 1
         * @return this builder
         * @throws IllegalArgumentException if {@code share} is NaN, less than 0, or not less than 1
         */
        public DjlSgdBuilder optMomentum(float share) {
            if (!(share >= 0 && share < 1)) {
                throw new IllegalArgumentException("the momentum must be at least 0 and less than 1, found " + share);
            }
            momentum = share;
            return this;
        }

        @Override
        protected DjlSgdBuilder self() {
            return this;
        }

        /** {@return a new optimizer} */
        public DjlSgd build() {
            return new DjlSgd(this);
        }
    }
}
