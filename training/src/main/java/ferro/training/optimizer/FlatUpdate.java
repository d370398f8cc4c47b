package ferro.training.optimizer;

import ferro.HostTensor;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A rule over parameters, gradients and state that lie in rows: element i of each belongs to element i of the others.
 *
 * {@snippet file="ferro/examples/snippets/OptimizerSnippetsTest.java" region="flat" :
 *
 * float[] parameters = {1, 2, 3};
 * float[] gradients = {4, 0, -4};
 * float[] momentum = new float[3];
 * FlatUpdate update = FlatUpdate.of(
 *         UpdateRule.sgd().withMomentum(0.5),
 *         HostTensor.of(parameters),
 *         HostTensor.of(gradients),
 *         List.of(HostTensor.of(momentum)));
 * update.update(0, 3, 1, 0.25); // all elements, in step 1, at a rate of 0.25
 * }
 *
 * <p>The bits of an element do not depend on how rows are cut: one update of all elements and many updates of parts of them, on one rank
 * or on several, give the same.
 *
 * <p>No update allocates. One thread at a time.
 */
public final class FlatUpdate {
    private final BlockUpdate rule;
    private final ElementBlock parameters;
    private final ElementBlock gradients;
    private final List<ElementBlock> state;
    private final long elementCount;

    private FlatUpdate(UpdateRule rule, HostTensor parameters, HostTensor gradients, List<HostTensor> state) {
        this.rule = BlockUpdate.of(rule);
        this.parameters = ElementBlock.of(parameters);
        this.gradients = ElementBlock.of(gradients);
        this.state = state.stream().map(ElementBlock::of).toList();
        elementCount = parameters.elementCount();
    }

    /**
     * Binds a rule to tensors, which it reads and writes in each update.
     *
     * @param rule rule
     * @param parameters parameters, {@code [n]}, f32 or f64
     * @param gradients gradients, {@code [n]} of the same type; never changed
     * @param state what the rule remembers, {@code [n]} of the same type each, zeros at first, in the order of
     *     {@link UpdateRule#stateNames}
     * @return update
     * @throws IllegalArgumentException if the tensors have other types than f32 or f64, differ in type or length, or are not as many as the
     *     rule needs
     */
    public static FlatUpdate of(UpdateRule rule, HostTensor parameters, HostTensor gradients, List<HostTensor> state) {
        Objects.requireNonNull(rule, "rule");
        Objects.requireNonNull(parameters, "parameters");
        Objects.requireNonNull(gradients, "gradients");
        Objects.requireNonNull(state, "state");
        if (state.size() != rule.stateNames().size()) {
            throw new IllegalArgumentException(rule.kind() + " needs "
                    + rule.stateNames().size() + " tensors of state " + rule.stateNames() + ", found " + state.size());
        }
        Stream.concat(Stream.of(gradients), state.stream()).forEach(other -> {
            if (other.dataType() != parameters.dataType() || other.elementCount() != parameters.elementCount()) {
                throw new IllegalArgumentException(rule.kind()
                        + ": need gradients and state of the type and length of the parameters " + parameters
                        + ", found "
                        + other);
            }
        });
        return new FlatUpdate(rule, parameters, gradients, state);
    }

    /**
     * Updates some elements.
     *
     * @param from first element
     * @param to   element behind the last one
     * @param step number of the step, from 1 on; the first one finds no state
     * @param rate learning rate of this step
     * @throws IllegalArgumentException  if the step is not positive
     * @throws IndexOutOfBoundsException if there are no such elements
     */
    public void update(long from, long to, long step, double rate) {
        Objects.checkFromToIndex(from, to, elementCount);
        if (step < 1) {
            throw new IllegalArgumentException("need a step from 1 on, found " + step);
        }
        rule.begin(step, rate);
        for (long at = from; at < to; at += ElementBlock.LENGTH) {
            updateBlock((int) at, (int) Math.min(ElementBlock.LENGTH, to - at));
        }
    }

    private void updateBlock(int at, int count) {
        parameters.read(at, count);
        gradients.read(at, count);
        for (int i = 0; i < state.size(); i++) { // no iterator: nothing is allocated
            state.get(i).read(at, count);
        }
        rule.update(parameters, gradients, state, count);
        parameters.write(at, count);
        for (int i = 0; i < state.size(); i++) {
            state.get(i).write(at, count);
        }
    }
}
