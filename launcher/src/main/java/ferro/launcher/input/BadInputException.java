package ferro.launcher.input;

/** The exception for wrong input of the user. The launcher has started nothing, and exits with exit code 2. */
public final class BadInputException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /** Creates an exception whose message gives, in one line, the wrong value and the input that is needed. */
    public BadInputException(String message) {
        super(message);
    }

    /** Creates an exception with a message and a cause. */
    public BadInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
