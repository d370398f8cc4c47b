package ferro.control.failure;

import java.util.regex.Pattern;

/**
 * The ends of texts of failures that tell a reader where to look. A reader who knows what has happened to the rank is shown
 * the text without them.
 */
public final class Advice {
    /** Of one process that has ended. */
    public static final String ITS_OUTPUT = "; its own output may say why";

    /** Of several processes that have ended. */
    public static final String THEIR_OUTPUT = "; their own output may say why";

    /** Of a rank that is silent. */
    public static final String SILENT = ": its process hangs or is stopped, or the network to it is cut";

    /** Of a rank that does not answer a question. */
    public static final String UNANSWERED = ": its process hangs, is stopped or cannot be reached";

    private static final String IF_RANK = ": if rank ";
    private static final String LEFT = " should have taken part, its own output may say why it left";

    private static final Pattern ANY = Pattern.compile(Pattern.quote(ITS_OUTPUT) + "|" + Pattern.quote(THEIR_OUTPUT)
            + "|" + Pattern.quote(SILENT) + "|" + Pattern.quote(UNANSWERED)
            + "|" + Pattern.quote(IF_RANK) + "\\d+" + Pattern.quote(LEFT));

    private Advice() {}

    /** Returns the advice about a rank that has left before a call. */
    public static String left(int rank) {
        return IF_RANK + rank + LEFT;
    }

    /** Returns a text of a failure without advice. */
    public static String removedFrom(String text) {
        return ANY.matcher(text).replaceAll("");
    }
}
