package ferro.collectives.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The hosts of a group in which some ranks, but not all, share memory. Hosts are numbered in the order of their lowest
 * ranks, and the ranks of each host are in ascending order. All ranks have equal objects. Immutable.
 */
public final class Hosts {
    private final int[] hostOf;
    private final List<List<Integer>> ranks;

    private Hosts(int[] hostOf, List<List<Integer>> ranks) {
        this.hostOf = hostOf;
        this.ranks = ranks;
    }

    /** The relation of ranks that share memory. */
    @FunctionalInterface
    public interface MemorySharing {
        /**
         * Returns whether two ranks share memory. The order of the ranks makes no difference; a rank shares memory with
         * itself.
         */
        boolean areIntraNode(int a, int b);
    }

    /**
     * Groups ranks by host. Returns empty if all ranks are on one host, if no two ranks share memory, or if two ranks
     * share memory with a third rank but not with each other.
     */
    public static Optional<Hosts> of(int worldSize, MemorySharing intraNode) {
        return of(new int[worldSize], intraNode);
    }

    /**
     * Groups ranks by host. Only ranks with the same host number are compared with each other, because ranks with
     * different numbers share no memory.
     */
    public static Optional<Hosts> of(int[] hostNumbers, MemorySharing intraNode) {
        int[] hostOf = new int[hostNumbers.length];
        List<List<Integer>> ranks = new ArrayList<>();
        Map<Integer, List<Integer>> earlier = new HashMap<>();
        for (int rank = 0; rank < hostOf.length; rank++) {
            List<Integer> others = earlier.computeIfAbsent(hostNumbers[rank], number -> new ArrayList<>());
            hostOf[rank] = hostAmong(others, rank, hostOf, intraNode);
            if (hostOf[rank] < 0) {
                hostOf[rank] = ranks.size();
                ranks.add(new ArrayList<>());
            }
            for (int other : others) {
                if (intraNode.areIntraNode(other, rank) != (hostOf[other] == hostOf[rank])) {
                    return Optional.empty();
                }
            }
            ranks.get(hostOf[rank]).add(rank);
            others.add(rank);
        }
        boolean flat = ranks.size() == 1 || ranks.size() == hostOf.length;
        return flat ? Optional.empty() : Optional.of(new Hosts(hostOf, ranks));
    }

    /** Returns hosts of one rank each, for plans that do not depend on hosts. */
    static Hosts ofOneRank(int worldSize) {
        int[] hostOf = new int[worldSize];
        List<List<Integer>> ranks = new ArrayList<>(worldSize);
        for (int rank = 0; rank < worldSize; rank++) {
            hostOf[rank] = rank;
            ranks.add(List.of(rank));
        }
        return new Hosts(hostOf, ranks);
    }

    private static int hostAmong(List<Integer> others, int rank, int[] hostOf, MemorySharing intraNode) {
        for (int other : others) {
            if (intraNode.areIntraNode(other, rank)) {
                return hostOf[other];
            }
        }
        return -1;
    }

    /** Returns the number of hosts, at least two. */
    public int count() {
        return ranks.size();
    }

    int worldSize() {
        return hostOf.length;
    }

    int of(int rank) {
        return hostOf[rank];
    }

    /** Returns the ranks of a host. Host numbers wrap around. */
    List<Integer> ranks(int host) {
        return ranks.get(Math.floorMod(host, ranks.size()));
    }

    /** Returns the rank that sends and receives for a host. Host numbers wrap around. */
    int leader(int host) {
        return ranks(host).get(0);
    }

    /** Returns the rank that sends and receives for a host. If {@code hosts} is null, returns rank {@code number}. */
    static int leader(Hosts hosts, int number) {
        return hosts == null ? number : hosts.leader(number);
    }

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
