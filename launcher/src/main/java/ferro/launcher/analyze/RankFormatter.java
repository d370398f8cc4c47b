package ferro.launcher.analyze;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/** Formats ranks and times for messages. */
public final class RankFormatter {
    private static final double NANOS_PER_SECOND = 1e9;

    private RankFormatter() {}

    /**
     * {@return a text such as {@code rank 3} or {@code ranks 0-2, 5}}
     *
     * @param ranks numbers of the ranks, in any order
     */
    public static String ranks(Collection<Integer> ranks) {
        return (ranks.size() == 1 ? "rank " : "ranks ") + numbers(ranks);
    }

    /**
     * {@return a text such as {@code 0-2, 5}}
     *
     * @param ranks numbers of the ranks, in any order
     */
    public static String numbers(Collection<Integer> ranks) {
        List<String> runs = new ArrayList<>();
        Integer first = null;
        Integer last = null;
        for (Integer rank : new TreeSet<>(ranks)) {
            if (last != null && rank != last + 1) {
                runs.add(run(first, last));
                first = null;
            }
            first = first == null ? rank : first;
            last = rank;
        }
        if (last != null) {
            runs.add(run(first, last));
        }
        return String.join(", ", runs);
    }

    private static String run(int first, int last) {
        if (first == last) {
            return "" + first;
        }
        return first + (last == first + 1 ? ", " : "-") + last;
    }

    /** Returns a text such as {@code 12.3 s}, {@code 4.5 ms} or {@code 17 us}. */
    static String time(long nanos) {
        long size = Math.abs(nanos);
        if (size >= 1_000_000_000L) {
            return String.format(Locale.ROOT, "%.1f s", nanos / NANOS_PER_SECOND);
        }
        if (size >= 1_000_000L) {
            return String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
        }
        return String.format(Locale.ROOT, "%.0f us", nanos / 1e3);
    }
}
