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
 * An optimizer whose state can be saved, and loaded again: {@link DjlAdam}, {@link DjlAdamW} and {@link DjlSgd}.
 *
 * <p>DJL's own optimizers keep what they remember to themselves. These call the same functions of the engine with the same numbers,
 * so that parameters get the same bits, but own the arrays.
 */
public abstract sealed class StatefulOptimizer extends Optimizer permits AdamOptimizer, DjlSgd {
    /** By DJL's id of the parameter. */
    private final Map<String, Map<String, NDArray>> arrays = new ConcurrentHashMap<>();

    private final Map<String, Integer> steps = new ConcurrentHashMap<>();
    private int begun;

    /**
     * Takes what all optimizers of DJL have.
     *
     * @param builder weight decay, clipping and the factor of gradients
     */
    StatefulOptimizer(OptimizerBuilder<?> builder) {
        super(builder);
    }

    /** Says what it remembers of each parameter, by the names of PyTorch. */
    abstract List<String> stateNames();

    /** Counts a step of a parameter. */
    final int nextStep(String parameterId) {
        return steps.merge(parameterId, begun + 1, (before, first) -> before + 1);
    }

    /** Returns what is remembered of a parameter, zeros at first. */
    final NDArray remembered(String state, String parameterId, NDArray weight) {
        return arrays.computeIfAbsent(parameterId, id -> new TreeMap<>()).computeIfAbsent(state, name -> {
            // not zerosLike: it would be as transposed as the weight, and its elements not those of a view
            NDArray zeros = weight.getManager().zeros(weight.getShape(), weight.getDataType());
            zeros.detach();
            return zeros;
        });
    }

    /** Says how many steps it has made. */
    final int stepCount() {
        return steps.values().stream().mapToInt(Integer::intValue).max().orElse(begun);
    }

    /** Goes on as if it had made so many steps. */
    final void continueAt(int stepCount) {
        steps.clear();
        begun = stepCount;
    }

    /** Returns all that it remembers, as views: a save reads them, a load writes them. */
    final List<StateSlice> slices(TrainedParameters parameters) {
        List<StateSlice> slices = new ArrayList<>();
        for (int index = 0; index < parameters.size(); index++) {
            NDArray weight = parameters.get(index).getArray();
            for (String state : stateNames()) {
                NDArray values = remembered(state, parameters.get(index).getId(), weight);
                HostTensor view =
                        HostTensor.of(parameters.described().get(index).dataType(), NDArrayMemory.ownMemory(values));
                slices.add(new StateSlice(state, parameters.nameOf(index), 0, view));
            }
        }
        return slices;
    }

    /** Frees what it remembers. */
    final void forget() {
        arrays.values().forEach(each -> each.values().forEach(NDArray::close));
        arrays.clear();
    }
}
