package ferro.launcher.output;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The failure report in its frame. The report is printed last when a rank has failed.
 *
 * @param first     the rank that failed first
 * @param seconds   time from the start of the ranks to the first failure; for a lost node, to this report
 * @param diagnosis text about the ranks to blame, from the recordings of the ranks; empty if no rank wrote a recording
 * @param others    texts about the other ranks, with one line for all ranks that have the same text
 * @param printed   output of the first rank
 * @param more      commands that show more; empty if no command shows more
 */
public record FailureBox(
        FailureSource first,
        double seconds,
        List<String> diagnosis,
        List<String> others,
        ReportedOutput printed,
        List<String> more) {
    /** Largest width of the frame, which is also its width on a screen of unknown width. */
    public static final int MOST_COLUMNS = 200;
    /** Smallest width of the frame, even on a terminal with a smaller width. */
    private static final int LEAST_COLUMNS = 20;

    /** The value in place of a rank number when a node is lost with all its ranks. */
    public static final int NO_RANK = -1;

    private static final String RULE = "+" + "-".repeat(78);
    private static final String CUT = " ...";

    /**
     * The rank that failed first, or the node that is lost.
     *
     * @param rank     number of the rank; {@link #NO_RANK} for a node
     * @param headline for example {@code rank 1 failed first: exit code 7}
     * @param place    host of the rank or node, for example {@code host b}
     * @param pid      id of the rank's process; not used for a node
     */
    public record FailureSource(int rank, String headline, String place, long pid) {
        private String when(double seconds) {
            String where = rank == NO_RANK ? place : "rank " + rank + ": " + place + ", pid " + pid;
            return String.format(Locale.ROOT, "%s, %.1f s after the start", where, seconds);
        }
    }

    /** The parts of an exception that a report shows. */
    public enum TracePart {
        /** The complete exception with its frames and causes. */
        COMPLETE(TracePart.MOST_LINES),
        /** The exception with its frames and causes, but without ferro's text, which the diagnosis contains. */
        FRAMES(TracePart.MOST_LINES),
        /** Only the first line of the exception, because another rank is to blame. */
        FIRST_LINE(1),
        /** Nothing, because the diagnosis contains the exception. */
        NONE(0);

        /** Limit of shown lines. A longer trace comes from an endless recursion. */
        private static final int MOST_LINES = 40;

        private final int lines;

        TracePart(int lines) {
            this.lines = lines;
        }
    }

    /**
     * The output of ranks in the report.
     *
     * @param trace     trace of the exception that ended the first rank, as printed; empty if no exception ended the
     *     rank
     * @param part      how much of the trace is shown
     * @param rank      rank whose last lines are shown: the first rank, or the rank that is to blame
     * @param lastLines last lines of {@code rank}, from both streams
     */
    public record ReportedOutput(List<String> trace, TracePart part, int rank, List<String> lastLines) {
        private List<String> shown() {
            return TraceShortener.of(trace).stream()
                    .limit(part.lines)
                    .map(line -> part == TracePart.FRAMES ? RankOutput.withoutText(line) : line)
                    .map(line -> line.replace("\t", "    "))
                    .toList();
        }

        private boolean isExplained() {
            return part == TracePart.FRAMES || part == TracePart.NONE;
        }

        private List<String> rest() {
            List<String> rest = new ArrayList<>(lastLines);
            rest.removeAll(trace);
            rest.removeIf(RankOutput::isInfoOfFerro);
            // the diagnosis contains the content of such a warning
            rest.removeIf(line -> isExplained() && RankOutput.isWarningAboutARank(line));
            return rest;
        }
    }

    /** Returns this report with more lines after the lines about the other ranks. */
    public FailureBox with(List<String> lines) {
        List<String> all = new ArrayList<>(others);
        all.addAll(lines);
        return new FailureBox(first, seconds, diagnosis, all, printed, more);
    }

    /**
     * Returns the lines of the report. Lines are cut to the width of the screen. Wrapped lines would break the frame,
     * and one trace would fill a screen. The commands that show more are not cut.
     */
    public List<String> lines(int columns) {
        int most = Math.max(LEAST_COLUMNS, Math.min(columns, MOST_COLUMNS));
        List<String> lines = new ArrayList<>();
        lines(LineWrapper.to(most)).forEach(line -> lines.add(cut(line, most)));
        // not cut, because the user types these commands
        more.forEach(line -> lines.add("| " + line));
        lines.add(cut(RULE, most));
        return lines;
    }

    private static String cut(String line, int columns) {
        if (line.equals(RULE)) {
            return line.substring(0, Math.min(columns, RULE.length()));
        }
        return line.codePointCount(0, line.length()) <= columns
                ? line
                : line.substring(0, line.offsetByCodePoints(0, columns - CUT.length())) + CUT;
    }

    private List<String> lines(LineWrapper wrapped) {
        List<String> lines = new ArrayList<>();
        lines.add(RULE);
        lines.addAll(wrapped.lines("| ", "ferro: " + first.headline()));
        lines.addAll(wrapped.lines("| ", first.when(seconds)));
        diagnosis.forEach(line -> lines.addAll(wrapped.lines("| ", line)));
        others.forEach(line -> lines.addAll(wrapped.lines("| ", line)));
        List<String> shown = printed.shown();
        if (!shown.isEmpty()) {
            lines.add("| exception of rank " + first.rank() + ":");
            shown.forEach(line -> lines.addAll(wrapped.lines("|   ", line)));
        }
        List<String> rest = printed.rest();
        if (!rest.isEmpty()) {
            lines.add("| last lines of rank " + printed.rank() + " (" + rest.size() + "):");
            rest.forEach(line -> lines.addAll(wrapped.briefly().lines("|   ", line)));
        } else if (printed.trace().isEmpty() && first.rank() != NO_RANK) {
            lines.add("| rank " + printed.rank() + " printed nothing"
                    + (printed.lastLines().isEmpty() ? "" : " but the log of ferro"));
        }
        return lines;
    }

    /**
     * Breaks lines between words. Lines are not cut, because the end of a line often contains the remedy.
     *
     * @param columns  width of a line
     * @param maxLines largest number of lines for one text, of which the last line is cut
     */
    private record LineWrapper(int columns, int maxLines) {
        private static final int MOST_LINES = 12;
        /** Largest number of lines for one line of a program, because a program's line may be very long. */
        private static final int BRIEF_LINES = 4;

        static LineWrapper to(int columns) {
            return new LineWrapper(Math.min(columns, 120), MOST_LINES);
        }

        LineWrapper briefly() {
            return new LineWrapper(columns, BRIEF_LINES);
        }

        List<String> lines(String start, String text) {
            List<String> lines = new ArrayList<>();
            StringBuilder line = new StringBuilder(start);
            for (String word : text.split(" ")) {
                boolean full = line.length() + word.length() >= columns && line.length() > start.length() + 2;
                // a word that is longer than a line is cut
                boolean fits = start.length() + 2 + word.length() < columns;
                if (full && fits && lines.size() < maxLines - 1) {
                    lines.add(line.toString().stripTrailing());
                    line = new StringBuilder(start + "  ");
                }
                line.append(word).append(' ');
            }
            lines.add(line.toString().stripTrailing());
            return lines;
        }
    }
}
