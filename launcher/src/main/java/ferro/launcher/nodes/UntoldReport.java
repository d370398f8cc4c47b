package ferro.launcher.nodes;

import java.util.Optional;
import java.util.function.Supplier;

/** A report or verdict that could not be made or sent: a text that begins with a mark, and the reason. */
final class UntoldReport {
    /** First character of such a text. */
    static final String MARK = "!";

    private UntoldReport() {}

    /** Returns a report or verdict; if it cannot be made, returns a text that says why. */
    static String made(Supplier<String> text, String what) {
        try {
            return text.get();
        } catch (RuntimeException failure) {
            return MARK + what + ": " + failure;
        }
    }

    /** Returns the node as lost, with the reason, if its text begins with the mark. */
    static Optional<LostNode> lost(NodeCard card, String text) {
        return text.startsWith(MARK)
                ? Optional.of(new LostNode(card, "its launcher " + text.substring(MARK.length())))
                : Optional.empty();
    }
}
