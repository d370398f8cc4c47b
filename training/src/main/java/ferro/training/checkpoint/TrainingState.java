package ferro.training.checkpoint;

import ferro.spi.Surrogates;
import java.util.List;
import java.util.Map;

/**
 * What a checkpoint keeps of a rank: parameters, which are equal on all ranks, what the optimizer remembers, of which each rank may
 * have a part, and strings for everything else.
 *
 * @param parameters all parameters, whole, the same ones on all ranks in the same order
 * @param slices what this rank has of the state of the optimizer; all ranks together have all of it. Where several ranks have the
 *     same elements, these must be equal, and one of them writes them. A save refuses two slices of one range on one
 *     rank
 * @param metadata strings by name, such as the step, the position of the sampler and settings; those of rank 0 are kept
 */
public record TrainingState(List<NamedTensor> parameters, List<StateSlice> slices, Map<String, String> metadata) {
    /**
     * Copies the lists, not the tensors.
     *
     * @param parameters all parameters
     * @param slices what this rank has of the state of the optimizer
     * @param metadata strings by name
     * @throws IllegalArgumentException if a name or a string of the metadata has half of a surrogate pair, which a file cannot
     *     keep
     */
    public TrainingState {
        parameters = List.copyOf(parameters);
        slices = List.copyOf(slices);
        metadata = Map.copyOf(metadata);
        metadata.forEach((name, text) -> {
            Surrogates.refuseHalves("the name of metadata \"" + name + "\"", name);
            Surrogates.refuseHalves("metadata \"" + name + "\"", text);
        });
    }

    /**
     * Makes a state of parameters alone.
     *
     * @param parameters all parameters
     * @return state without an optimizer's and without metadata
     */
    public static TrainingState of(List<NamedTensor> parameters) {
        return new TrainingState(parameters, List.of(), Map.of());
    }

    /**
     * Adds the state of an optimizer.
     *
     * @param added what this rank has of it
     * @return a state with these slices
     */
    public TrainingState withSlices(List<StateSlice> added) {
        return new TrainingState(parameters, added, metadata);
    }

    /**
     * Adds metadata.
     *
     * @param added strings by name
     * @return a state with these strings
     * @throws IllegalArgumentException if a name or a string has half of a surrogate pair, which a file cannot keep
     */
    public TrainingState withMetadata(Map<String, String> added) {
        return new TrainingState(parameters, slices, added);
    }
}
