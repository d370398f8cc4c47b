package ferro.launcher.analyze;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;

/**
 * The rank that comes last to calls, and by how much. It is counted over the last calls of a group that all members
 * recorded.
 *
 * @param rank   rank that came last most often
 * @param times  number of calls to which it came last
 * @param calls  number of calls that were counted
 * @param middle median of the time by which it came after the rank before it, in nanoseconds
 * @param most   longest such time, in nanoseconds
 */
record Arrivals(int rank, int times, int calls, long middle, long most) {
    private static final int LAST_CALLS = 50;
    /** In fewer calls, the rank that comes last may be any rank. */
    private static final int LEAST_CALLS = 5;

    /** Returns the arrivals of a group; empty if it has fewer than 2 members or 5 calls. */
    static Optional<Arrivals> of(Merge merge, SharedGroup group) {
        SortedSet<Integer> members = group.members();
        List<Long> whole = group.sequences().stream()
                .filter(sequence -> members.stream()
                        .allMatch(rank -> group.call(rank, sequence).isPresent()))
                .sorted(Comparator.reverseOrder())
                .limit(LAST_CALLS)
                .toList();
        if (members.size() < 2 || whole.size() < LEAST_CALLS) {
            return Optional.empty();
        }
        TreeMap<Integer, List<Long>> lags = new TreeMap<>();
        for (long sequence : whole) {
            TreeMap<Long, Integer> order = new TreeMap<>();
            members.forEach(rank -> order.put(
                    merge.at(rank, group.call(rank, sequence).orElseThrow().begun()), rank));
            long last = order.lastKey();
            Long before = order.lowerKey(last);
            lags.computeIfAbsent(order.get(last), key -> new ArrayList<>()).add(before == null ? 0 : last - before);
        }
        return lags.entrySet().stream()
                .max(Comparator.comparingInt(entry -> entry.getValue().size()))
                .map(entry -> of(entry.getKey(), entry.getValue(), whole.size()));
    }

    private static Arrivals of(int rank, List<Long> lags, int calls) {
        List<Long> sorted = lags.stream().sorted().toList();
        return new Arrivals(rank, sorted.size(), calls, sorted.get(sorted.size() / 2), sorted.get(sorted.size() - 1));
    }

    /** Returns this as one sentence. */
    String text() {
        return "rank " + rank + " was the last rank to make " + times + " of the last " + calls + " calls, "
                + PlainTexts.time(middle) + " after the second-to-last rank (median; at most " + PlainTexts.time(most)
                + ")";
    }
}
