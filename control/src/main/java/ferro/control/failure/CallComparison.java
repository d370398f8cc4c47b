package ferro.control.failure;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A comparison of calls with one sequence number. The comparison finds the ranks to blame and the difference. */
public final class CallComparison {
    private static final Pattern LENGTH = Pattern.compile("\\[\\d+]");
    /** The root at the end of the text of a call from which the algorithm has been removed. */
    private static final Pattern ROOT = Pattern.compile(" root \\d+$");
    /** The algorithm in the text of a call. Calls that differ in length may also differ in algorithm. */
    private static final Pattern ALGORITHM = Pattern.compile(" by \\w+$");

    private CallComparison() {}

    /**
     * {@return the ranks to blame, ascending. Only the ranks whose call differs are to blame if more than half of the
     * ranks have made the same call. All ranks are to blame if no call has such a majority}
     *
     * @param calls the call of each rank, or a value that is equal for equal calls
     */
    public static Set<Integer> odd(Map<Integer, ?> calls) {
        Set<Integer> odd = new TreeSet<>(calls.keySet());
        for (Object usual : Set.copyOf(calls.values())) {
            if (2 * Collections.frequency(calls.values(), usual) > calls.size()) {
                odd.removeIf(rank -> calls.get(rank).equals(usual));
            }
        }
        return odd;
    }

    /**
     * Describes the difference between calls for people.
     *
     * @param texts calls of the ranks
     * @return {@code lengths differ}, {@code roots differ}, or that the calls are different
     */
    public static String problem(Collection<String> texts) {
        return areEqualButFor(LENGTH, texts)
                ? "lengths differ"
                : areEqualButFor(ROOT, texts) ? "roots differ" : "ranks made different calls";
    }

    /**
     * Returns what a user can do about a difference between calls.
     *
     * @param texts calls of the ranks
     * @return the rule that the calls break
     */
    public static String remedy(Collection<String> texts) {
        if (areEqualButFor(LENGTH, texts)) {
            return "all ranks must pass the same length; gather, allGather, scatter, reduceScatter and allToAll have forms"
                    + " with counts for lengths that differ";
        }
        return areEqualButFor(ROOT, texts)
                ? "all ranks must name the same root"
                : "all ranks must make the same calls in the same order";
    }

    /** Returns whether the calls differ only in their lengths, or only in their roots. */
    public static boolean isOfOneValue(Collection<String> texts) {
        return areEqualButFor(LENGTH, texts) || areEqualButFor(ROOT, texts);
    }

    private static boolean areEqualButFor(Pattern value, Collection<String> texts) {
        List<String> calls = texts.stream()
                .map(text -> ALGORITHM.matcher(text).replaceAll(""))
                .toList();
        return isOne(calls.stream()
                        .map(text -> value.matcher(text).replaceAll(""))
                        .toList())
                && !isOne(calls.stream()
                        .map(text -> value.matcher(text)
                                .results()
                                .map(MatchResult::group)
                                .toList())
                        .toList());
    }

    private static boolean isOne(List<?> values) {
        return values.stream().distinct().count() == 1;
    }
}
