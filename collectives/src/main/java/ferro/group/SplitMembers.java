package ferro.group;

import java.util.Comparator;
import java.util.stream.IntStream;

/** The members of one color of a split, in the order of the new group. */
final class SplitMembers {
    private SplitMembers() {}

    /**
     * Finds the members.
     *
     * @param color color of the members
     * @param all   color and key of each rank, one pair after the other
     * @return ranks, ordered by key, ties by rank
     */
    static int[] of(int color, int[] all) {
        return IntStream.range(0, all.length / 2)
                .filter(rank -> all[2 * rank] == color)
                .boxed()
                .sorted(Comparator.comparingInt((Integer rank) -> all[2 * rank + 1])
                        .thenComparingInt(rank -> rank))
                .mapToInt(Integer::intValue)
                .toArray();
    }
}
