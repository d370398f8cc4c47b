package ferro.training.checkpoint;

import java.util.Map;

/**
 * What a checkpoint says of itself.
 *
 * @param step the step after which it was saved
 * @param worldSize how many ranks saved it
 * @param metadata the strings that were saved with it
 */
public record CheckpointInfo(long step, int worldSize, Map<String, String> metadata) {
    /**
     * Copies the strings.
     *
     * @param step the step after which it was saved
     * @param worldSize how many ranks saved it
     * @param metadata the strings that were saved with it
     */
    public CheckpointInfo {
        metadata = Map.copyOf(metadata);
    }
}
