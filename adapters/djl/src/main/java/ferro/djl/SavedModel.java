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
 * What a checkpoint keeps of a model and its optimizer. Parameters pass through memory of its own, since an engine may give out copies
 * of them only; the optimizer's arrays are its memory.
 */
final class SavedModel {
    private static final String OPTIMIZER = "djl.optimizer";
    private static final String STEPS = "djl.steps";

    private final StatefulOptimizer optimizer;
    /** Which parameters are buffers: each rank changes its own, such as running means. */
    private final BitSet buffers = new BitSet();

    private final List<NDArray> arrays = new ArrayList<>();
    private final List<NamedTensor> parameters = new ArrayList<>();
    private final List<StateSlice> slices;

    private SavedModel(Block block, StatefulOptimizer optimizer) {
        this.optimizer = optimizer;
        Set<String> ids = new HashSet<>();
        for (Pair<String, Parameter> named : block.getParameters()) {
            if (!ids.add(named.getValue().getId())) {
                continue; // two blocks share it, and it has the name that it has first
            }
            NDArray array = named.getValue().getArray();
            buffers.set(arrays.size(), !named.getValue().requiresGradient());
            arrays.add(array);
            parameters.add(NamedTensor.of(
                    named.getKey(),
                    TrainedParameters.room(named.getKey(), array),
                    array.getShape().getShape()));
        }
        slices = optimizer.slices(new TrainedParameters(block));
    }

    static SavedModel of(Block block, StatefulOptimizer optimizer) {
        return new SavedModel(block, optimizer);
    }

    /** Copies the parameters. */
    SavedModel read() {
        for (int at = 0; at < arrays.size(); at++) {
            NDArrayMemory.read(arrays.get(at), parameters.get(at).values());
        }
        return this;
    }

    /** Gives all ranks the buffers of rank 0, in the model and in what is saved. A collective call, after {@link #read}. */
    SavedModel broadcastBuffers(ProcessGroup group) {
        Replicas.of(group)
                .broadcast(
                        buffers.stream()
                                .mapToObj(at -> parameters.get(at).values())
                                .toList(),
                        0);
        buffers.stream().forEach(at -> NDArrayMemory.write(parameters.get(at).values(), arrays.get(at)));
        return this;
    }

    TrainingState state(Map<String, String> metadata) {
        Map<String, String> all = new HashMap<>(metadata);
        if (all.containsKey(OPTIMIZER) || all.containsKey(STEPS)) {
            throw new IllegalArgumentException(
                    "the names " + OPTIMIZER + " and " + STEPS + " are taken, found metadata " + metadata.keySet());
        }
        all.put(OPTIMIZER, optimizer.getClass().getSimpleName());
        all.put(STEPS, Integer.toString(optimizer.stepCount()));
        return new TrainingState(parameters, slices, all);
    }

    /** Refuses what another kind of optimizer has saved: its numbers mean something else. */
    void check(Map<String, String> metadata) {
        String own = optimizer.getClass().getSimpleName();
        String found = metadata.get(OPTIMIZER);
        if (!own.equals(found)) {
            throw new IllegalArgumentException("the checkpoint is of "
                    + (found == null ? "a program that does not use ferro-djl" : "optimizer " + found)
                    + ", need one of optimizer " + own);
        }
    }

    /** Gives the parameters that were loaded to the model, and the count of steps to the optimizer. */
    void write(Map<String, String> metadata) {
        for (int at = 0; at < arrays.size(); at++) {
            NDArrayMemory.write(parameters.get(at).values(), arrays.get(at));
        }
        optimizer.continueAt(Integer.parseInt(metadata.get(STEPS)));
    }
}
