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
    private static final String RULE = "+" + "-".repeat(78);

    List<String> lines() {
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
