package ferro.launcher.analyze;

/** A file that is no recording, or a broken one; the message names the file and what is wrong. */
public final class UnreadableRecordingException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableRecordingException(String message) {
        super(message);
    }

    UnreadableRecordingException(String message, Throwable cause) {
        super(message, cause);
    }
}
