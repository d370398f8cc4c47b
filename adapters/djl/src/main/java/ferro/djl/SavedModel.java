package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import ferro.group.ProcessGroup;
import ferro.training.Replicas;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.StateSlice;
import ferro.training.checkpoint.TrainingState;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The state of a model and its optimizer in a checkpoint. The parameters are copied through separate memory, because an
 * engine may return only copies of their memory. The arrays of the optimizer are saved from their own memory.
 */
final class SavedModel {
    private static final String OPTIMIZER = "djl.optimizer";
    private static final String STEPS = "djl.steps";

    private final StatefulOptimizer optimizer;
    /** The indices of the parameters that are buffers, such as running means. Each rank changes its own buffers. */
    private final BitSet buffers = new BitSet();

    private final List<NDArray> arrays = new ArrayList<>();
    private final List<NamedTensor> parameters = new ArrayList<>();
    private final List<StateSlice> slices;

    private SavedModel(Block block, StatefulOptimizer optimizer) {
        this.optimizer = optimizer;
        Set<String> ids = new HashSet<>();
        for (Pair<String, Parameter> named : block.getParameters()) {
            if (!ids.add(named.getValue().getId())) {
                continue; // two blocks share the parameter, and it gets the first of its names
            }
            NDArray array = named.getValue().getArray();
            buffers.set(arrays.size(), !named.getValue().requiresGradient());
            arrays.add(array);
            parameters.add(NamedTensor.of(
                    named.getKey(),
                    TrainableParameters.hostBuffer(named.getKey(), array),
                    array.getShape().getShape()));
        }
        slices = optimizer.slices(new TrainableParameters(block));
    }

    static SavedModel of(Block block, StatefulOptimizer optimizer) {
        return new SavedModel(block, optimizer);
    }

    /** Copies the parameters of the model to the memory that is saved. */
    SavedModel read() {
        for (int at = 0; at < arrays.size(); at++) {
            NDArrayCopier.read(arrays.get(at), parameters.get(at).values());
        }
        return this;
    }

    /**
     * Copies the buffers of rank 0 to all ranks, in the model and in the memory that is saved. All ranks must make this
     * collective call after {@link #read}.
     */
    SavedModel broadcastBuffers(ProcessGroup group) {
        Replicas.of(group)
                .broadcast(
                        buffers.stream()
                                .mapToObj(at -> parameters.get(at).values())
                                .toList(),
                        0);
        buffers.stream().forEach(at -> NDArrayCopier.write(parameters.get(at).values(), arrays.get(at)));
        return this;
    }

    TrainingState state(Map<String, String> metadata) {
        Map<String, String> all = new HashMap<>(metadata);
        if (all.containsKey(OPTIMIZER) || all.containsKey(STEPS)) {
            throw new IllegalArgumentException(
                    "the names " + OPTIMIZER + " and " + STEPS + " are reserved, found metadata " + metadata.keySet());
        }
        all.put(OPTIMIZER, optimizer.getClass().getSimpleName());
        all.put(STEPS, Integer.toString(optimizer.stepCount()));
        return new TrainingState(parameters, slices, all);
    }

    /** Checks that the same kind of optimizer saved the checkpoint: the state of another kind has another meaning. */
    void check(Map<String, String> metadata) {
        String own = optimizer.getClass().getSimpleName();
        String found = metadata.get(OPTIMIZER);
        if (!own.equals(found)) {
            throw new IllegalArgumentException("the checkpoint was saved by "
                    + (found == null ? "a program that does not use ferro-djl" : "optimizer " + found)
                    + ", need a checkpoint of optimizer " + own);
        }
    }

    /** Copies the loaded parameters to the model, and sets the step count of the optimizer. */
    void write(Map<String, String> metadata) {
        for (int at = 0; at < arrays.size(); at++) {
            NDArrayCopier.write(parameters.get(at).values(), arrays.get(at));
        }
        optimizer.continueAt(Integer.parseInt(metadata.get(STEPS)));
    }
}
