package ferro.control.failure;

import ferro.control.wire.RankSetFormat;
import java.util.BitSet;
import java.util.regex.Pattern;

/**
 * Advice at the end of failure texts about where to search for the cause. The advice is removed from a text if it is
 * known how the rank ended.
 */
public final class FailureHints {
    /** Advice about one process that has ended. */
    public static final String ITS_OUTPUT = "; its own output may say why";

    /** Advice about several processes that have ended. */
    public static final String THEIR_OUTPUT = "; their own output may say why";

    /** Advice about a rank that is silent. */
    public static final String SILENT = ": its process hangs or is stopped, or the network to it is cut";

    /** Advice about a rank that does not answer a question. */
    public static final String UNANSWERED = ": its process hangs, is stopped or cannot be reached";

    /** Advice about ranks whose sends wait for each other. */
    public static final String CROSSING =
            "each rank sends before it receives: use sendReceive, or sendAsync before the recv";

    private static final Pattern ANY = Pattern.compile(Pattern.quote(ITS_OUTPUT) + "|" + Pattern.quote(THEIR_OUTPUT)
            + "|" + Pattern.quote(SILENT) + "|" + Pattern.quote(UNANSWERED)
            + "|: if ranks? [\\d, ]+ should have taken part, (its|their) own output may say why (it|they) left");

    private FailureHints() {}

    /** Returns the advice about ranks that have left before a call. */
    public static String left(BitSet ranks) {
        boolean isOne = ranks.cardinality() == 1;
        return ": if " + RankSetFormat.ranks(ranks) + " should have taken part, " + (isOne ? "its" : "their")
                + " own output may say why " + (isOne ? "it" : "they") + " left";
    }

    /** Returns the text of a failure without the advice at its end. */
    public static String removedFrom(String text) {
        return ANY.matcher(text).replaceAll("");
    }
}
