package ferro.launcher.nodes;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * A node whose launcher has not reported how its ranks ended.
 *
 * @param entry entry of the node's launcher
 * @param why   observation, for example that the connection of the launcher has ended
 */
public record LostNode(LauncherEntry entry, String why) {
    /** First character of a text that replaces a missing report or verdict. The reason follows this character. */
    static final String MARK = "!";

    /** Returns a report or verdict, or else a text with the reason why the report or verdict cannot be made. */
    static String made(Supplier<String> text, String what) {
        try {
            return text.get();
        } catch (RuntimeException failure) {
            return MARK + what + ": " + failure;
        }
    }

    /** Returns the node as lost, with the reason, if the text of the node begins with {@link #MARK}. */
    static Optional<LostNode> said(LauncherEntry entry, String text) {
        return text.startsWith(MARK)
                ? Optional.of(new LostNode(entry, "its launcher " + text.substring(MARK.length())))
                : Optional.empty();
    }

    /**
     * {@return the lost node in one line, for example {@code node 1 (host b, 10.0.0.2) is lost with its rank 1: the
     * connection of its launcher has ended}}
     */
    public String said() {
        return entry + " is lost with its " + entry.rankNumbers() + ": " + why;
    }
}
