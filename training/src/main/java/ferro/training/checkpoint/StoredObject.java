package ferro.training.checkpoint;

import java.util.Objects;

/**
 * An object of a {@link CheckpointStorage}, as its list has it.
 *
 * @param name its name, such as {@code step-12/checkpoint.json}
 * @param bytes how long it is
 */
public record StoredObject(String name, long bytes) {
    /**
     * Checks the name.
     *
     * @param name its name
     * @param bytes how long it is
     */
    public StoredObject {
        Objects.requireNonNull(name, "name");
    }
}
