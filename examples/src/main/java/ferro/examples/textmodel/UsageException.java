package ferro.examples.textmodel;

/**
 * An error that the user can fix by a change of an option, the text or the batch. The program ends with exit code 2.
 */
final class UsageException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    UsageException(String message) {
        super(message);
    }

    UsageException(String message, Throwable cause) {
        super(message, cause);
    }
}
