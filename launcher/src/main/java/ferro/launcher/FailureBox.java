package ferro.launcher;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The last thing printed when a rank failed.
 *
 * @param first     the rank that failed first
 * @param seconds   since the job started
 * @param diagnosis who is to blame, by the ranks' own recordings; empty if they wrote none
 * @param others    what became of the others, a line for all of whom the same is said
 * @param printed   what the first rank printed
 * @param more      how to learn more; empty if there is no more
 */
record FailureBox(
        First first, double seconds, List<String> diagnosis, List<String> others, Printed printed, List<String> more) {
    /** Where nobody says how wide the screen is. */
    static final int MOST_COLUMNS = 200;
    /** A terminal that says it is narrower is mistaken. */
    private static final int LEAST_COLUMNS = 20;

    /** In the place of a rank: a node is lost with all its ranks. */
    static final int NO_RANK = -1;

    private static final String RULE = "+" + "-".repeat(78);
    private static final String CUT = " ...";

    /**
     * The rank that failed first, or the node that is lost.
     *
     * @param rank     which; {@link #NO_RANK} for a node
     * @param headline for example {@code rank 1 failed first: exit code 7}
     * @param place    where, for example {@code host b}
     * @param pid      of its process; of no meaning for a node
     */
    record First(int rank, String headline, String place, long pid) {
        private String when(double seconds) {
            String process = rank == NO_RANK ? "" : ", pid " + pid;
            return String.format(Locale.ROOT, "| %s%s, %.1f s after the start", place, process, seconds);
        }
    }

    /**
     * What a rank printed.
     *
     * @param trace     of the exception that ended it, as it was printed; empty if there is none
     * @param lastLines on either stream
     * @param innocent  whether another rank brought about what ended this one: then one line of its trace says it
     */
    record Printed(List<String> trace, List<String> lastLines, boolean innocent) {
        /** More are a recursion that found no end. */
        private static final int MOST_LINES = 40;

        private List<String> shown() {
            return FoldedTrace.of(trace).stream()
                    .limit(innocent ? 1 : MOST_LINES)
                    .toList();
        }

        private List<String> rest() {
            List<String> rest = new ArrayList<>(lastLines);
            rest.removeAll(trace);
            return rest;
        }
    }

    /**
     * Returns its lines, none longer than the screen is wide but those that say how to learn more: a wrapped line breaks the box,
     * and one trace fills a screen.
     */
    List<String> lines(int columns) {
        int most = Math.max(LEAST_COLUMNS, Math.min(columns, MOST_COLUMNS));
        List<String> lines = new ArrayList<>();
        lines(Wrapped.to(most)).forEach(line -> lines.add(cut(line, most)));
        // to be typed: half of a command is none
        more.forEach(line -> lines.add("| " + line));
        lines.add(cut(RULE, most));
        return lines;
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

    private List<String> lines(Wrapped wrapped) {
        List<String> lines = new ArrayList<>();
        lines.add(RULE);
        lines.add("| ferro: " + first.headline());
        lines.add(first.when(seconds));
        diagnosis.forEach(line -> lines.addAll(wrapped.lines("| ", line)));
        others.forEach(line -> lines.add("| " + line));
        if (!printed.trace().isEmpty()) {
            lines.add("| exception of rank " + first.rank() + ":");
            printed.shown().stream()
                    .map(line -> line.replace("\t", "    "))
                    .forEach(line ->
                            lines.addAll(printed.innocent() ? List.of("|   " + line) : wrapped.lines("|   ", line)));
        }
        List<String> rest = printed.rest();
        if (!rest.isEmpty()) {
            lines.add("| last lines of rank " + first.rank() + " (" + rest.size() + "):");
            rest.forEach(line -> lines.add("|   " + line));
        } else if (printed.trace().isEmpty() && first.rank() != NO_RANK) {
            lines.add("| rank " + first.rank() + " printed nothing");
        }
        return lines;
    }

    /** Breaks our own sentences between words, as what they say last is often what to do. */
    private record Wrapped(int columns) {
        private static final int MOST_LINES = 12;

        static Wrapped to(int columns) {
            return new Wrapped(Math.min(columns, 120));
        }

        List<String> lines(String start, String text) {
            List<String> lines = new ArrayList<>();
            StringBuilder line = new StringBuilder(start);
            for (String word : text.split(" ")) {
                boolean full = line.length() + word.length() >= columns && line.length() > start.length() + 2;
                if (full && lines.size() < MOST_LINES - 1) {
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
