package ferro.launcher.analyze;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The calls in which the ranks were that are not to blame, each with its ranks.
 *
 * @param byCall ranks by the name of the call that they were in
 * @param others all ranks that are not to blame and have recorded calls
 */
record CallsOfOthers(Map<String, SortedSet<Integer>> byCall, Collection<Integer> others) {
    CallsOfOthers(Collection<Integer> others) {
        this(new LinkedHashMap<>(), others);
    }

    void add(int rank, String call) {
        byCall.computeIfAbsent(call, key -> new TreeSet<>()).add(rank);
    }

    boolean isEmpty() {
        return byCall.isEmpty();
    }

    /**
     * Returns a clause such as {@code , while rank 0 was in recv and ranks 1, 3 were in allReduce}; nothing if no rank was in
     * a call.
     *
     * @param start words before it
     * @param one   verb for one rank
     * @param many  verb for several ranks
     */
    String after(String start, String one, String many) {
        if (isEmpty()) {
            return "";
        }
        return start
                + byCall.entrySet().stream()
                        .map(entry -> who(entry.getValue()) + (entry.getValue().size() == 1 ? " " + one : " " + many)
                                + " " + entry.getKey())
                        .collect(Collectors.joining(" and "));
    }

    private String who(SortedSet<Integer> ranks) {
        return ranks.size() > 1 && ranks.containsAll(others) ? "the others" : PlainTexts.ranks(ranks);
    }
}
