package ferro.launcher.input;

/** Wrong input of the user. The launcher has started nothing, and the command ends with exit code 2. */
public final class BadInputException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /** Creates an exception. Its message gives the wrong value and the correct input in one line. */
    public BadInputException(String message) {
        super(message);
    }

    /** Creates an exception with a message of the same form and a cause. */
    public BadInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
