package ferro.training.checkpoint;

import java.util.Objects;

/**
 * An exception that reports that a checkpoint cannot be saved or loaded. Possible reasons are a storage failure, a
 * missing or damaged file, an invalid header, or tensors that do not match the tensors of this job. The message names
 * the file, the tensor or the rank. After a failed save the previous checkpoint is still the latest checkpoint.
 */
public final class CheckpointException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message a text that says what failed, where the failure occurred, what was expected and what was found
     */
    public CheckpointException(String message) {
        super(Objects.requireNonNull(message, "message"));
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message a text that says what failed, where the failure occurred, what was expected and what was found
     * @param cause   the exception or error that caused the failure
     */
    public CheckpointException(String message, Throwable cause) {
        super(Objects.requireNonNull(message, "message"), cause);
    }
}
