package ferro.collectives.shared;

import ferro.Medium;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which ranks of a group share memory, and why the others do not; equal on all ranks once they have met. Keeps what each rank
 * said, and makes a text for people only when asked: there are as many pairs as the square of the ranks. Immutable.
 */
public final class Nearness {
    private static final int PAIRS_LISTED = 4;
    /** A group of many hosts has as many reasons as pairs of hosts. */
    private static final int REASONS_LISTED = 16;

    private static final int SHIFT = 32;

    private final List<Said> ranks;
    private final int[] hosts;
    /** Why nobody shares with anybody; null if ranks have met. */
    private final String none;

    /**
     * What a rank says.
     *
     * @param host          that it counts as being on, empty if it did not say
     * @param name          what people call that host, empty if it did not say; hosts may have one name
     * @param silentBecause why it offers no memory; empty if it does
     * @param reached       which ranks it has reached, itself among them
     * @param failed        why it could not reach others of its host; empty if it could
     */
    public record Said(String host, String name, String silentBecause, BitSet reached, String failed) {}

    /** Pairs of ranks that have something in common. */
    private static final class Pairs {
        private final StringBuilder listed = new StringBuilder("ranks ");
        private final String what;
        private long count;

        Pairs(String what) {
            this.what = what;
        }

        void add(int a, int b) {
            if (count++ < PAIRS_LISTED) {
                listed.append(count == 1 ? "" : ", ").append(a).append('-').append(b);
            }
        }

        @Override
        public String toString() {
            String more = count <= PAIRS_LISTED ? " " : " and " + (count - PAIRS_LISTED) + " more pairs ";
            return listed + more + what;
        }
    }

    /**
     * Makes it of what each rank says.
     *
     * @param ranks in order
     */
    public Nearness(List<Said> ranks) {
        this(ranks, null);
    }

    private Nearness(List<Said> ranks, String none) {
        this.ranks = List.copyOf(ranks);
        this.none = none;
        this.hosts = new int[ranks.size()];
        Map<String, Integer> numbers = new HashMap<>();
        for (int rank = 0; rank < hosts.length; rank++) {
            hosts[rank] = numbers.computeIfAbsent(ranks.get(rank).host, any -> numbers.size());
        }
    }

    /**
     * Returns the nearness of ranks that share nothing.
     *
     * @param worldSize how many
     * @param why       for people
     * @return nearness
     */
    public static Nearness none(int worldSize, String why) {
        return new Nearness(Collections.nCopies(worldSize, new Said("", "", why, new BitSet(), "")), why);
    }

    /**
     * Returns whether two ranks share memory.
     *
     * @param a rank
     * @param b rank
     * @return true for a rank and itself
     */
    public boolean areNear(int a, int b) {
        return a == b || ranks.get(a).reached.get(b) && ranks.get(b).reached.get(a);
    }

    /**
     * Returns whether a rank shares memory with any other.
     *
     * @param rank which
     * @return false if it is alone
     */
    public boolean isNearAnother(int rank) {
        for (int other = 0; other < hosts.length; other++) {
            if (other != rank && areNear(rank, other)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the ranks that share memory with one.
     *
     * @param rank which
     * @return by rank, itself among them
     */
    public boolean[] nearTo(int rank) {
        boolean[] near = new boolean[hosts.length];
        for (int other = 0; other < near.length; other++) {
            near[other] = areNear(rank, other);
        }
        return near;
    }

    /**
     * Returns whether all ranks share memory with all.
     *
     * @return then collectives need no link
     */
    public boolean isComplete() {
        for (int a = 0; a < hosts.length; a++) {
            for (int b = a + 1; b < hosts.length; b++) {
                if (!areNear(a, b)) {
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Returns which host a rank counts as being on.
     *
     * @param rank which
     * @return name, empty if it did not say
     */
    public String host(int rank) {
        return ranks.get(rank).host;
    }

    /**
     * Says what carries data between whom, and once per reason why ranks of one host do not share memory. That ranks are on
     * different hosts is no such reason.
     *
     * @param links what carries data between ranks that do not share memory
     * @return lines for people
     */
    public List<String> lines(Medium links) {
        if (isComplete()) {
            return List.of("all " + hosts.length + " ranks share memory");
        }
        Map<Long, Pairs> apart = apart(false);
        List<String> lines = new ArrayList<>();
        if (none == null) {
            lines.add(new Clusters(this, links).line(apart.isEmpty()));
        }
        addReasons(apart, lines);
        return lines;
    }

    /** Lists ranks that do not share memory by why that is, which of different hosts may be that they are. */
    private Map<Long, Pairs> apart(boolean ofHostsToo) {
        Map<Long, Pairs> apart = new LinkedHashMap<>();
        for (int a = 0; a < hosts.length; a++) {
            for (int b = a + 1; b < hosts.length; b++) {
                if (!areNear(a, b) && (ofHostsToo || none != null || blamed(a, b) >= 0)) {
                    like(a, b, apart).add(a, b);
                }
            }
        }
        return apart;
    }

    private static void addReasons(Map<Long, Pairs> apart, List<String> lines) {
        apart.values().stream().limit(REASONS_LISTED).forEach(pairs -> lines.add(pairs.toString()));
        if (apart.size() > REASONS_LISTED) {
            lines.add("others do not share memory for " + (apart.size() - REASONS_LISTED) + " more reasons");
        }
    }

    /** Returns the pairs that are apart for the same reason; its text is made once, if it will be read. */
    private Pairs like(int a, int b, Map<Long, Pairs> apart) {
        return apart.computeIfAbsent(
                key(a, b),
                any -> new Pairs(apart.size() < REASONS_LISTED ? "do not share memory: " + reason(a, b) : ""));
    }

    /** Returns what is equal for pairs that are apart for one reason: who is to blame, or which two hosts they are on. */
    private long key(int a, int b) {
        if (none != null) {
            return -1;
        }
        int blamed = blamed(a, b);
        if (blamed >= 0) {
            return -2L - blamed;
        }
        return (long) Math.min(hosts[a], hosts[b]) << SHIFT | Math.max(hosts[a], hosts[b]);
    }

    /** Returns the rank by which two do not share memory; -1 if it is that they are on two hosts. */
    private int blamed(int a, int b) {
        if (hosts[a] != hosts[b] && !host(a).isEmpty() && !host(b).isEmpty()) {
            return -1;
        }
        if (!ranks.get(a).silentBecause.isEmpty()) {
            return a;
        }
        if (!ranks.get(b).silentBecause.isEmpty()) {
            return b;
        }
        return ranks.get(a).reached.get(b) ? b : a;
    }

    private String reason(int a, int b) {
        if (none != null) {
            return none;
        }
        int blamed = blamed(a, b);
        if (blamed < 0) {
            return named(a).equals(named(b))
                    ? "hosts are (" + host(a) + ") and (" + host(b) + ")"
                    : "hosts are " + named(a) + " and " + named(b);
        }
        Said said = ranks.get(blamed);
        if (!said.silentBecause.isEmpty()) {
            return "rank " + blamed + " offers none: " + said.silentBecause;
        }
        return "rank " + blamed + " says: " + (said.failed.isEmpty() ? "cause unknown" : said.failed);
    }

    /** Returns what people call a rank's host. */
    String named(int rank) {
        Said said = ranks.get(rank);
        return said.name.isEmpty() ? said.host : said.name;
    }

    /** Returns which of the hosts it is on, by a number. */
    int hostNumber(int rank) {
        return hosts[rank];
    }

    int worldSize() {
        return hosts.length;
    }

    /**
     * Says why ranks do not share memory, that they are on different hosts among it.
     *
     * @return empty if all share it
     */
    public String whyNot() {
        List<String> lines = new ArrayList<>();
        addReasons(apart(true), lines);
        return String.join("; ", lines);
    }

    @Override
    public String toString() {
        return isComplete() ? "all share memory" : whyNot();
    }
}
