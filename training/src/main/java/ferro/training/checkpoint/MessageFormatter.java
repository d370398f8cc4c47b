package ferro.training.checkpoint;

import java.nio.file.NoSuchFileException;
import java.util.List;

/** Methods that format parts of exception and log messages. */
final class MessageFormatter {
    private static final int MAX_CHARS = 200;
    private static final int MAX_LINES = 20;

    private MessageFormatter() {}

    /** Shortens a text to 200 characters. Text from a file may have any length. */
    static String shortened(String text) {
        return text.length() <= MAX_CHARS ? text : text.substring(0, MAX_CHARS) + "...";
    }

    /** Describes a failure of the storage, because the message of a NoSuchFileException is only the file name. */
    static String of(Throwable failure) {
        if (failure instanceof NoSuchFileException missing) {
            return missing.getFile() + " is missing";
        }
        return failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : failure.getClass().getSimpleName() + ": " + failure.getMessage();
    }

    /** Joins the descriptions of problems: the first 20, and then the number of further problems if there are any. */
    static String of(List<String> problems) {
        String text = String.join("; ", problems.subList(0, Math.min(MAX_LINES, problems.size())));
        return problems.size() <= MAX_LINES ? text : text + "; and " + (problems.size() - MAX_LINES) + " more";
    }
}
