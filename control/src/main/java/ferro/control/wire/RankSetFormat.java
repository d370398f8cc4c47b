package ferro.control.wire;

import java.util.BitSet;
import java.util.Collection;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;

/** Conversions between sets of ranks and texts. */
public final class RankSetFormat {
    private static final int DIGITS_MOST = 9;

    private RankSetFormat() {}

    /** Formats ranks for a program to read, for example {@code 1,3}. */
    public static String list(BitSet ranks) {
        return list(numbers(ranks));
    }

    /**
     * Formats ranks for people.
     *
     * @param ranks ranks to format
     * @return for example {@code rank 3} or {@code ranks 1, 3}
     */
    public static String ranks(BitSet ranks) {
        return ranks(list(ranks));
    }

    /** Formats ranks for people, for example {@code rank 3} or {@code ranks 1, 3}. */
    public static String ranks(Collection<Integer> ranks) {
        return ranks(list(ranks));
    }

    private static String ranks(String list) {
        return (list.indexOf(',') < 0 ? "rank " : "ranks ") + list.replace(",", ", ");
    }

    /** Formats ascending ranks for a program to read, for example {@code 1,3}. */
    public static String list(Collection<Integer> ranks) {
        StringJoiner list = new StringJoiner(",");
        for (int rank : ranks) {
            list.add(Integer.toString(rank));
        }
        return list.toString();
    }

    /** Parses a list of ranks from another rank. Entries that are not numbers are ignored. */
    public static Set<Integer> numbers(String list) {
        Set<Integer> ranks = new TreeSet<>();
        for (String text : list.split(",")) {
            int rank = number(text);
            if (rank >= 0) {
                ranks.add(rank);
            }
        }
        return ranks;
    }

    /** Returns whether a list from another rank contains only ranks of a group of {@code worldSize} ranks. */
    static boolean isList(String list, int worldSize) {
        for (String rank : list.isEmpty() ? new String[0] : list.split(",", -1)) {
            if (number(rank) < 0 || number(rank) >= worldSize) {
                return false;
            }
        }
        return true;
    }

    /** Returns the ranks of a bit set. */
    public static Set<Integer> numbers(BitSet ranks) {
        Set<Integer> numbers = new TreeSet<>();
        for (int rank = ranks.nextSetBit(0); rank >= 0; rank = ranks.nextSetBit(rank + 1)) {
            numbers.add(rank);
        }
        return numbers;
    }

    /** Returns the number that a text contains, or -1 if the text is not a number or has more than nine digits. */
    private static int number(String text) {
        int number = text.isEmpty() || text.length() > DIGITS_MOST ? -1 : 0;
        for (int i = 0; i < text.length() && number >= 0; i++) {
            int digit = text.charAt(i) - '0';
            number = digit < 0 || digit > 9 ? -1 : 10 * number + digit;
        }
        return number;
    }

    /** Parses a list of ranks from another rank. Entries that are not numbers below {@code most} are ignored. */
    public static BitSet set(String list, int most) {
        BitSet ranks = new BitSet();
        for (String text : list.split(",")) {
            int rank = number(text);
            if (rank >= 0 && rank < most) {
                ranks.set(rank);
            }
        }
        return ranks;
    }

    /** Formats nanoseconds for people, for example {@code 3.1 s}. */
    public static String seconds(long nanos) {
        long tenths = (nanos + 50_000_000L) / 100_000_000L;
        return tenths / 10 + "." + tenths % 10 + " s";
    }
}
