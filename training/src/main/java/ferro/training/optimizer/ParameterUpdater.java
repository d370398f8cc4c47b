package ferro.training.optimizer;

import ferro.HostTensor;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Applies an update rule to tensors of parameters, gradients and state. Element i of each tensor belongs to element i
 * of the other tensors.
 *
 * {@snippet file="ferro/examples/snippets/OptimizerSnippetsTest.java" region="flat" :
 *
 * float[] parameters = {1, 2, 3};
 * float[] gradients = {4, 0, -4};
 * float[] momentum = new float[3];
 * ParameterUpdater updater = ParameterUpdater.of(
 *         UpdateRule.sgd().withMomentum(0.5),
 *         HostTensor.of(parameters),
 *         HostTensor.of(gradients),
 *         List.of(HostTensor.of(momentum)));
 * updater.update(0, 3, 1, 0.25); // all elements, in step 1, at a rate of 0.25
 * }
 *
 * <p>The bits of an element do not depend on how the tensors are divided. One update of all elements gives the same
 * bits as many updates of parts, on one rank or on several ranks.
 *
 * <p>No update allocates memory. One thread at a time may use an updater.
 */
public final class ParameterUpdater {
    private final BlockUpdate rule;
    private final BlockBuffer parameters;
    private final BlockBuffer gradients;
    private final List<BlockBuffer> state;
    private final long elementCount;

    private ParameterUpdater(UpdateRule rule, HostTensor parameters, HostTensor gradients, List<HostTensor> state) {
        this.rule = BlockUpdate.of(rule);
        this.parameters = BlockBuffer.of(parameters);
        this.gradients = BlockBuffer.of(gradients);
        this.state = state.stream().map(BlockBuffer::of).toList();
        elementCount = parameters.elementCount();
    }

    /**
     * Binds a rule to tensors that each update reads and writes.
     *
     * @param rule optimizer and its settings
     * @param parameters parameters, {@code [n]}, f32 or f64
     * @param gradients gradients, {@code [n]} of the same type; never changed
     * @param state state tensors of the rule, {@code [n]} of the same type each, in the order of
     *     {@link UpdateRule#stateNames}; zeros at first
     * @return updater
     * @throws IllegalArgumentException if the type of the tensors is neither f32 nor f64, if types or lengths differ,
     *     or if the rule needs another number of state tensors
     */
    public static ParameterUpdater of(
            UpdateRule rule, HostTensor parameters, HostTensor gradients, List<HostTensor> state) {
        Objects.requireNonNull(rule, "rule");
        Objects.requireNonNull(parameters, "parameters");
        Objects.requireNonNull(gradients, "gradients");
        Objects.requireNonNull(state, "state");
        if (state.size() != rule.stateNames().size()) {
            throw new IllegalArgumentException(rule.kind() + " needs "
                    + rule.stateNames().size() + " state tensors " + rule.stateNames() + ", found " + state.size());
        }
        Stream.concat(Stream.of(gradients), state.stream()).forEach(other -> {
            if (other.dataType() != parameters.dataType() || other.elementCount() != parameters.elementCount()) {
                throw new IllegalArgumentException(rule.kind()
                        + ": need gradients and state of the type and length of the parameters " + parameters
                        + ", found "
                        + other);
            }
        });
        return new ParameterUpdater(rule, parameters, gradients, state);
    }

    /**
     * Updates a range of elements.
     *
     * @param from first element
     * @param to element after the last element of the range
     * @param step number of the step, from 1; step 1 begins without state
     * @param rate learning rate of this step
     * @throws IllegalArgumentException if the step is not positive
     * @throws IndexOutOfBoundsException if the range is not inside the tensors
     */
    public void update(long from, long to, long step, double rate) {
        Objects.checkFromToIndex(from, to, elementCount);
        if (step < 1) {
            throw new IllegalArgumentException("need a step of at least 1, found " + step);
        }
        rule.begin(step, rate);
        for (long at = from; at < to; at += BlockBuffer.LENGTH) {
            updateBlock((int) at, (int) Math.min(BlockBuffer.LENGTH, to - at));
        }
    }

    private void updateBlock(int at, int count) {
        parameters.read(at, count);
        gradients.read(at, count);
        for (int i = 0; i < state.size(); i++) { // the loop uses an index, because an iterator would allocate memory
            state.get(i).read(at, count);
        }
        rule.update(parameters, gradients, state, count);
        parameters.write(at, count);
        for (int i = 0; i < state.size(); i++) {
            state.get(i).write(at, count);
        }
    }
}
