package ferro.collectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which ranks of a group share memory, where not all of them do: hosts, numbered by their lowest ranks, and the ranks of
 * each in order. Equal on all ranks; immutable.
 */
public final class Hosts {
    private final int[] hostOf;
    private final List<List<Integer>> ranks;

    private Hosts(int[] hostOf, List<List<Integer>> ranks) {
        this.hostOf = hostOf;
        this.ranks = ranks;
    }

    /** Whether two ranks share memory. */
    @FunctionalInterface
    public interface Near {
        /**
         * Says it of a pair.
         *
         * @param a rank
         * @param b rank
         * @return the same for both orders, true for a rank and itself
         */
        boolean areNear(int a, int b);
    }

    /**
     * Sorts ranks by host.
     *
     * @param worldSize how many
     * @param near      who shares memory with whom
     * @return hosts; empty if there is but one, if every rank is alone, or if ranks that share memory with a third do not
     *     with each other
     */
    public static Optional<Hosts> of(int worldSize, Near near) {
        int[] hostOf = new int[worldSize];
        List<List<Integer>> ranks = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            int first = 0;
            while (!near.areNear(first, rank)) {
                first++;
            }
            if (first == rank) {
                hostOf[rank] = ranks.size();
                ranks.add(new ArrayList<>());
            } else {
                hostOf[rank] = hostOf[first];
            }
            ranks.get(hostOf[rank]).add(rank);
        }
        for (int a = 0; a < worldSize; a++) {
            for (int b = 0; b < a; b++) {
                if (near.areNear(a, b) != (hostOf[a] == hostOf[b])) {
                    return Optional.empty();
                }
            }
        }
        boolean flat = ranks.size() == 1 || ranks.size() == worldSize;
        return flat ? Optional.empty() : Optional.of(new Hosts(hostOf, ranks));
    }

    /**
     * Returns how many hosts there are.
     *
     * @return two at least
     */
    public int count() {
        return ranks.size();
    }

    /** Returns how many ranks there are. */
    int worldSize() {
        return hostOf.length;
    }

    int of(int rank) {
        return hostOf[rank];
    }

    /** Returns the ranks of a host; numbers of hosts wrap. */
    List<Integer> ranks(int host) {
        return ranks.get(Math.floorMod(host, ranks.size()));
    }

    /** Returns the rank that speaks for a host; numbers of hosts wrap. */
    int leader(int host) {
        return ranks(host).get(0);
    }

    /** Returns the ranks of a rank's host without that rank. */
    List<Integer> beside(int rank) {
        List<Integer> others = new ArrayList<>(ranks(hostOf[rank]));
        others.remove((Integer) rank);
        return others;
    }

    @Override
    public String toString() {
        return ranks.toString();
    }
}
