package ferro.launcher;

/** What the user typed makes no sense; nothing has been started; the command ends with exit code 2. */
final class BadInputException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    BadInputException(String message) {
        super(message);
    }

    BadInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
