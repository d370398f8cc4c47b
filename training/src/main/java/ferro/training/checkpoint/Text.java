package ferro.training.checkpoint;

import java.nio.file.NoSuchFileException;
import java.util.List;

/** Parts of messages. */
final class Text {
    private static final int MOST = 200;
    private static final int MOST_LINES = 20;

    private Text() {}

    /** Shortens what a file says, which may be anything. */
    static String shortened(String text) {
        return text.length() <= MOST ? text : text.substring(0, MOST) + "...";
    }

    /** Names a failure of storage; that of a missing file has only the name as its message. */
    static String of(Throwable failure) {
        if (failure instanceof NoSuchFileException missing) {
            return missing.getFile() + " is missing";
        }
        return failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : failure.getClass().getSimpleName() + ": " + failure.getMessage();
    }

    /** Joins problems, the first ones only where there are very many. */
    static String of(List<String> problems) {
        String text = String.join("; ", problems.subList(0, Math.min(MOST_LINES, problems.size())));
        return problems.size() <= MOST_LINES ? text : text + "; and " + (problems.size() - MOST_LINES) + " more";
    }
}
