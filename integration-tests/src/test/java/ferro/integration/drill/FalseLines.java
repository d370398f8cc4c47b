package ferro.integration.drill;

import java.util.List;
import java.util.regex.Pattern;

/** Lines of output that help nobody who reads them. */
public final class FalseLines {
    /** Lines without a text, or without ranks. */
    private static final String EMPTY = "(INFO|WARNING|SEVERE)( [a-z.]+)?:? *$|ranks \\[\\]";

    private static final Pattern ANYWHERE = Pattern.compile(EMPTY);
    /** Loopback has no firewall. */
    private static final Pattern ON_LOOPBACK = Pattern.compile(EMPTY + "|firewall");

    private FalseLines() {}

    /** Returns the false lines of ranks of this machine. */
    static List<String> onLoopback(List<String> lines) {
        return lines.stream().filter(ON_LOOPBACK.asPredicate()).toList();
    }

    public static List<String> betweenHosts(List<String> lines) {
        return lines.stream().filter(ANYWHERE.asPredicate()).toList();
    }
}
