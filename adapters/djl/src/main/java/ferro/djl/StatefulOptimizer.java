package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.training.optimizer.Optimizer;
import ferro.HostTensor;
import ferro.training.checkpoint.StateSlice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An optimizer whose state can be saved and loaded. The subclasses are {@link DjlAdam}, {@link DjlAdamW} and
 * {@link DjlSgd}.
 *
 * <p>DJL's own optimizers do not expose their state. The subclasses of this class own the arrays of their state. The
 * subclasses call the same functions of the engine with the same numbers as DJL's optimizers, so parameters get the
 * same bits.
 */
public abstract sealed class StatefulOptimizer extends Optimizer permits AdamOptimizer, DjlSgd {
    /** The arrays of the state, by DJL's id of the parameter and by the name of the state. */
    private final Map<String, Map<String, NDArray>> arrays = new ConcurrentHashMap<>();

    private final Map<String, Integer> steps = new ConcurrentHashMap<>();
    private int begun;

    /**
     * Creates an optimizer with the settings that all optimizers of DJL have.
     *
     * @param builder the builder with the weight decay, the clipping and the factor of gradients
     */
    StatefulOptimizer(OptimizerBuilder<?> builder) {
        super(builder);
    }

    /** Returns the names of the state arrays that each parameter has. The names are PyTorch's names. */
    abstract List<String> stateNames();

    /** Increments the step count of a parameter and returns the new count. */
    final int nextStep(String parameterId) {
        return steps.merge(parameterId, begun + 1, (before, first) -> before + 1);
    }

    /** Returns a state array of a parameter. A new array contains zeros. */
    final NDArray remembered(String state, String parameterId, NDArray weight) {
        return arrays.computeIfAbsent(parameterId, id -> new TreeMap<>()).computeIfAbsent(state, name -> {
            // not zerosLike: its result would be transposed like the weight, and a view would then be a copy
            NDArray zeros = weight.getManager().zeros(weight.getShape(), weight.getDataType());
            zeros.detach();
            return zeros;
        });
    }

    /** Returns the number of steps that this optimizer has made. */
    final int stepCount() {
        return steps.values().stream().mapToInt(Integer::intValue).max().orElse(begun);
    }

    /** Sets the number of steps that this optimizer has made. */
    final void continueAt(int stepCount) {
        steps.clear();
        begun = stepCount;
    }

    /** Returns views of all state arrays. A save reads the views, and a load writes to them. */
    final List<StateSlice> slices(TrainableParameters parameters) {
        List<StateSlice> slices = new ArrayList<>();
        for (int index = 0; index < parameters.size(); index++) {
            NDArray weight = parameters.get(index).getArray();
            for (String state : stateNames()) {
                NDArray values = remembered(state, parameters.get(index).getId(), weight);
                HostTensor view =
                        HostTensor.of(parameters.described().get(index).dataType(), NDArrayCopier.ownMemory(values));
                slices.add(StateSlice.of(state, parameters.nameOf(index), 0, view));
            }
        }
        return slices;
    }

    /** Frees all state arrays. */
    final void forget() {
        arrays.values().forEach(each -> each.values().forEach(NDArray::close));
        arrays.clear();
    }
}
