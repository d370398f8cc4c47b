package ferro.training.checkpoint;

import java.util.Objects;

/**
 * An object in the list of a {@link CheckpointStorage}.
 *
 * @param name  the name of the object, such as {@code step-12/checkpoint.json}
 * @param bytes the length of the object in bytes
 */
public record StoredObject(String name, long bytes) {
    /**
     * Checks that the name is not null.
     *
     * @param name  the name of the object
     * @param bytes the length of the object in bytes
     */
    public StoredObject {
        Objects.requireNonNull(name, "name");
    }
}
