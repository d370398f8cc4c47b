package ferro.training.checkpoint;

import java.util.Objects;

/**
 * A checkpoint cannot be saved or loaded: storage failed, a part is missing or damaged, a header makes no sense, or the tensors
 * are not those of this job. The message names the file, or the tensor, or the rank. A failed save leaves the checkpoint before it
 * as the latest one.
 */
public final class CheckpointException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes a failure.
     *
     * @param message what failed, where, what was expected and found
     */
    public CheckpointException(String message) {
        super(Objects.requireNonNull(message, "message"));
    }

    /**
     * Makes a failure with the one that caused it.
     *
     * @param message what failed, where, what was expected and found
     * @param cause what caused it
     */
    public CheckpointException(String message, Throwable cause) {
        super(Objects.requireNonNull(message, "message"), cause);
    }
}
