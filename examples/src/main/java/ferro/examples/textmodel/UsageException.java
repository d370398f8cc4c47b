package ferro.examples.textmodel;

/** Something the user must change: an option, the text, the batch; ends the program with exit code 2. */
final class UsageException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    UsageException(String message) {
        super(message);
    }

    UsageException(String message, Throwable cause) {
        super(message, cause);
    }
}
