package ferro.collectives.control.wire;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;

/** Conversion between sets of ranks and texts. */
public final class RankLists {
    private static final int DIGITS_MOST = 9;

    private RankLists() {}

    /**
     * Formats ranks for a program.
     *
     * @param ranks set
     * @return for example {@code 1,3}
     */
    public static String list(BitSet ranks) {
        StringBuilder list = new StringBuilder();
        for (int rank = ranks.nextSetBit(0); rank >= 0; rank = ranks.nextSetBit(rank + 1)) {
            list.append(list.isEmpty() ? "" : ",").append(rank);
        }
        return list.toString();
    }

    /**
     * Formats ranks for people.
     *
     * @param ranks set
     * @return for example {@code rank 3} or {@code ranks 1, 3}
     */
    public static String ranks(BitSet ranks) {
        return ranks(list(ranks));
    }

    /** Lists ranks for people: {@code rank 3}, or {@code ranks 1, 3}. */
    public static String ranks(String list) {
        return (list.indexOf(',') < 0 ? "rank " : "ranks ") + list.replace(",", ", ");
    }

    /**
     * Formats ranks for a program.
     *
     * @param ranks ascending
     * @return for example {@code 1,3}
     */
    public static String list(Collection<Integer> ranks) {
        return ranks.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** Reads a list. Leaves out entries that are not numbers, since the list comes from another rank. */
    public static Set<Integer> numbers(String list) {
        return Arrays.stream(list.split(","))
                .map(RankLists::number)
                .filter(rank -> rank >= 0)
                .collect(Collectors.toSet());
    }

    /** Returns whether a list that came from another rank contains only ranks of a group. */
    static boolean isList(String list, int worldSize) {
        for (String rank : list.isEmpty() ? new String[0] : list.split(",", -1)) {
            if (number(rank) < 0 || number(rank) >= worldSize) {
                return false;
            }
        }
        return true;
    }

    /** Returns a list with each rank once, ascending, without entries that are not ranks. */
    public static String ascending(String list) {
        int[] ranks = list.isEmpty()
                ? new int[0]
                : Arrays.stream(list.split(","))
                        .mapToInt(RankLists::number)
                        .filter(rank -> rank >= 0)
                        .sorted()
                        .distinct()
                        .toArray();
        return Arrays.stream(ranks).mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    /** Returns the number in a text; -1 if it is not a number, or has more than nine digits. */
    private static int number(String text) {
        int number = text.isEmpty() || text.length() > DIGITS_MOST ? -1 : 0;
        for (int i = 0; i < text.length() && number >= 0; i++) {
            int digit = text.charAt(i) - '0';
            number = digit < 0 || digit > 9 ? -1 : 10 * number + digit;
        }
        return number;
    }

    /** Reads a list. Leaves out entries that are not numbers, since the list comes from another rank. */
    public static BitSet set(String list, int most) {
        BitSet ranks = new BitSet();
        Arrays.stream(list.split(","))
                .mapToInt(RankLists::number)
                .filter(rank -> rank >= 0 && rank < most)
                .forEach(ranks::set);
        return ranks;
    }

    /**
     * Formats a time for people.
     *
     * @param nanos nanoseconds
     * @return for example {@code 3.1 s}
     */
    public static String seconds(long nanos) {
        long tenths = (nanos + 50_000_000L) / 100_000_000L;
        return tenths / 10 + "." + tenths % 10 + " s";
    }
}
