package ferro.launcher.input;

/** The user's input is wrong. Nothing has been started, and the command ends with exit code 2. */
public final class BadInputException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /** Creates an exception whose message says in one line what is wrong, with its value, and what to give instead. */
    public BadInputException(String message) {
        super(message);
    }

    /** Creates an exception with such a message and a cause. */
    public BadInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
