package ferro.launcher;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The last thing printed when a rank failed.
 *
 * @param rank      first to fail, by time
 * @param host      where
 * @param pid       of its process
 * @param code      exit code, 128 + n for signal n
 * @param seconds   since the job started
 * @param lastLines what it printed last
 * @param others    what became of the others
 */
record FailureBox(
        int rank, String host, long pid, int code, double seconds, List<String> lastLines, List<String> others) {
    /** Where nobody says how wide the screen is. */
    static final int MOST_COLUMNS = 200;
    /** A terminal that says it is narrower is mistaken. */
    private static final int LEAST_COLUMNS = 20;

    private static final String RULE = "+" + "-".repeat(78);
    private static final String CUT = " ...";

    /** Returns its lines, none longer than the screen is wide: a wrapped line breaks the box, and one trace fills a screen. */
    List<String> lines(int columns) {
        int most = Math.max(LEAST_COLUMNS, Math.min(columns, MOST_COLUMNS));
        return lines().stream().map(line -> cut(line, most)).toList();
    }

    private static String cut(String line, int columns) {
        if (line.equals(RULE)) {
            return line.substring(0, Math.min(columns, RULE.length()));
        }
        if (line.codePointCount(0, line.length()) <= columns) {
            return line;
        }
        return line.substring(0, line.offsetByCodePoints(0, columns - CUT.length())) + CUT;
    }

    private List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(RULE);
        lines.add("| ferro: rank " + rank + " failed first: " + ExitCode.describe(code));
        lines.add(String.format(Locale.ROOT, "| host %s, pid %d, %.1f s after the start", host, pid, seconds));
        others.forEach(line -> lines.add("| " + line));
        if (lastLines.isEmpty()) {
            lines.add("| it printed nothing");
        } else {
            lines.add("| its last lines (" + lastLines.size() + "):");
            lastLines.forEach(line -> lines.add("|   " + line));
        }
        lines.add(RULE);
        return lines;
    }
}
