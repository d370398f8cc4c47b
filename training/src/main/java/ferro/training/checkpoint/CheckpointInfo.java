package ferro.training.checkpoint;

import java.util.Map;

/**
 * The description of a checkpoint.
 *
 * @param step      the step after which the checkpoint was saved
 * @param worldSize the number of ranks that saved the checkpoint
 * @param metadata  the strings that were saved with the checkpoint
 */
public record CheckpointInfo(long step, int worldSize, Map<String, String> metadata) {
    /**
     * Copies the metadata.
     *
     * @param step      the step after which the checkpoint was saved
     * @param worldSize the number of ranks that saved the checkpoint
     * @param metadata  the strings that were saved with the checkpoint
     */
    public CheckpointInfo {
        metadata = Map.copyOf(metadata);
    }
}
