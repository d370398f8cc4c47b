package ferro.launcher.analyze;

/** The exception for a file that is not a recording or is damaged. The message has the file and the problem. */
public final class UnreadableRecordingException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableRecordingException(String message) {
        super(message);
    }

    UnreadableRecordingException(String message, Throwable cause) {
        super(message, cause);
    }

    /** {@return what is wrong: the part of the message without the file} */
    public String reason() {
        return getCause() instanceof UnreadableRecordingException inner ? inner.reason() : getMessage();
    }
}
