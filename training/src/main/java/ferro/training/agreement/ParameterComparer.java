package ferro.training.agreement;

import ferro.group.ProcessGroup;
import java.util.Arrays;
import java.util.List;

/**
 * Comparison of the parameters and settings from which all ranks build buckets or optimizers. The comparison reports
 * the first difference.
 */
public final class ParameterComparer {
    private static final String LINE_END = "\u0000";
    private static final String NOTHING = "nothing more";
    private static final int LONGEST_VALUE = 200;

    private final String what;
    /**
     * For each rank, the reason why the rank cannot build, followed by the lines of the rank. The reason is empty if
     * the rank can build.
     */
    private final List<List<String>> lines;

    private ParameterComparer(String what, List<List<String>> lines) {
        this.what = what;
        this.lines = lines;
    }

    /**
     * Compares the lines of all ranks of a group. A rank with invalid parameters must call this method too, so that no
     * rank waits for the invalid rank.
     *
     * @param what name of the objects that ranks build, in the plural
     * @param lines properties that must be equal, each with its name: {@code parameter 3 is "w" f32[4]}
     * @param invalid reason why this rank cannot build; empty if this rank can build
     * @throws IllegalArgumentException if lines differ between ranks, or if a rank is invalid; all ranks throw the same
     *     text
     */
    public static void compare(ProcessGroup group, String what, List<String> lines, String invalid) {
        List<String> texts = TextComparer.differing(group, what, invalid + LINE_END + String.join(LINE_END, lines));
        if (!texts.isEmpty()) {
            List<List<String>> all = texts.stream()
                    .map(text -> Arrays.asList(text.split(LINE_END, -1)))
                    .toList();
            throw new IllegalArgumentException(new ParameterComparer(what, all).difference());
        }
    }

    /** Returns the reason of the first invalid rank, or else the first line in which a rank differs from rank 0. */
    private String difference() {
        for (int rank = 0; rank < lines.size(); rank++) {
            String invalid = lines.get(rank).get(0);
            if (!invalid.isEmpty()) {
                return "rank " + rank + " of " + lines.size() + " cannot build " + what + ": " + invalid;
            }
        }
        int rank = 1;
        while (lines.get(rank).equals(lines.get(0))) {
            rank++;
        }
        int line = 1;
        while (line(rank, line).equals(line(0, line))) {
            line++;
        }
        return "ranks build " + what + " from different parameters or settings: on rank 0 " + shortened(line(0, line))
                + ", on rank " + rank + " " + shortened(line(rank, line)) + "; all " + lines.size()
                + " ranks need the same parameters and settings in the same order";
    }

    private String line(int rank, int line) {
        List<String> ofRank = lines.get(rank);
        return line < ofRank.size() ? ofRank.get(line) : NOTHING;
    }

    private static String shortened(String value) {
        return value.length() <= LONGEST_VALUE ? value : value.substring(0, LONGEST_VALUE) + "...";
    }
}
