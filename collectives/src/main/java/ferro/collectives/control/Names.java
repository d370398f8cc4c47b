package ferro.collectives.control;

import java.util.Arrays;
import java.util.BitSet;
import java.util.stream.Collectors;

/** Ranks as texts. */
public final class Names {
    private Names() {}

    /**
     * Lists ranks for a program.
     *
     * @param ranks set
     * @return for example {@code 1,3}
     */
    public static String list(BitSet ranks) {
        return ranks.stream().mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    /**
     * Lists ranks for people.
     *
     * @param ranks set
     * @return for example {@code rank 3} or {@code ranks 1, 3}
     */
    public static String ranks(BitSet ranks) {
        return ranks(list(ranks));
    }

    static String ranks(String list) {
        return (list.indexOf(',') < 0 ? "rank " : "ranks ") + list.replace(",", ", ");
    }

    /** Reads a list; what is no number is left out, since it comes from another rank. */
    static BitSet set(String list, int most) {
        BitSet ranks = new BitSet();
        Arrays.stream(list.split(","))
                .filter(rank -> rank.matches("[0-9]{1,9}"))
                .mapToInt(Integer::parseInt)
                .filter(rank -> rank < most)
                .forEach(ranks::set);
        return ranks;
    }

    /**
     * Says a time for people.
     *
     * @param nanos nanoseconds
     * @return for example {@code 3.1 s}
     */
    public static String seconds(long nanos) {
        long tenths = (nanos + 50_000_000L) / 100_000_000L;
        return tenths / 10 + "." + tenths % 10 + " s";
    }
}
