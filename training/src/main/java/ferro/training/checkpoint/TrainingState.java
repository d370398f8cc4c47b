package ferro.training.checkpoint;

import ferro.spi.SurrogateCheck;
import java.util.List;
import java.util.Map;

/**
 * The state of one rank that a checkpoint contains: parameters, state of the optimizer and metadata. The parameters are
 * equal on all ranks. Each rank may hold a part of the optimizer's state. The metadata can contain any other strings.
 *
 * @param parameters all parameters, each complete. All ranks have the same parameters in the same order
 * @param slices     the part of the optimizer's state that this rank holds. All ranks together hold the complete state.
 *     If several ranks hold the same range, the values of the range must be equal, and one of these ranks writes the
 *     values. A save fails if one rank has two slices of the same range
 * @param metadata   strings by name, such as the step, the position of the sampler and settings. A checkpoint contains
 *     the metadata of rank 0
 */
public record TrainingState(List<NamedTensor> parameters, List<StateSlice> slices, Map<String, String> metadata) {
    /**
     * Copies the lists and the map, but not the tensors.
     *
     * @param parameters all parameters
     * @param slices     the part of the optimizer's state that this rank holds
     * @param metadata   strings by name
     * @throws IllegalArgumentException if a name or a string of the metadata contains half of a surrogate pair, which a
     *     file cannot contain
     */
    public TrainingState {
        parameters = List.copyOf(parameters);
        slices = List.copyOf(slices);
        metadata = Map.copyOf(metadata);
        metadata.forEach((name, text) -> {
            SurrogateCheck.refuseHalves("the name of metadata \"" + name + "\"", name);
            SurrogateCheck.refuseHalves("metadata \"" + name + "\"", text);
        });
    }

    /**
     * Returns a state that contains only parameters.
     *
     * @param parameters all parameters
     * @return a state without state of an optimizer and without metadata
     */
    public static TrainingState of(List<NamedTensor> parameters) {
        return new TrainingState(parameters, List.of(), Map.of());
    }

    /**
     * Returns a copy of this state with other optimizer state.
     *
     * @param added the part of the optimizer's state that this rank holds
     * @return a state with the slices {@code added} instead of the slices of this state
     */
    public TrainingState withSlices(List<StateSlice> added) {
        return new TrainingState(parameters, added, metadata);
    }

    /**
     * Returns a copy of this state with other metadata.
     *
     * @param added strings by name
     * @return a state with the strings {@code added} instead of the metadata of this state
     * @throws IllegalArgumentException if a name or a string contains half of a surrogate pair, which a file cannot
     *     contain
     */
    public TrainingState withMetadata(Map<String, String> added) {
        return new TrainingState(parameters, slices, added);
    }
}
