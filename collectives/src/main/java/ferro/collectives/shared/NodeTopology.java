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
 * The ranks of a group that share memory, and the reasons why other ranks share no memory. The topology is equal on all
 * ranks after the ranks have exchanged their reports. The object keeps the report of each rank, and makes texts only on
 * request, because the number of pairs is the square of the number of ranks. Immutable.
 */
public final class NodeTopology {
    private static final int PAIRS_LISTED = 4;
    /** Maximum number of reasons in a text. A group of many hosts has as many reasons as pairs of hosts. */
    private static final int REASONS_LISTED = 16;

    /** Maximum number of clusters in a text. A group of many hosts has one cluster per host. */
    private static final int CLUSTERS_LISTED = 8;

    private static final int SHIFT = 32;

    private final List<RankReport> ranks;
    /** Number of the host of each rank; null if no rank has reported its host. */
    private final int[] hosts;
    /** Why no two ranks share memory; null if the ranks have exchanged reports. */
    private final String none;

    /**
     * A report of a rank about itself.
     *
     * @param host          host that the rank counts as being on; empty if the rank did not report its host
     * @param name          name of that host for texts; empty if the rank did not report a name; several hosts may have
     *     the same name
     * @param silentBecause why the rank offers no memory; empty if the rank offers memory
     * @param reached       ranks that the rank has reached, including itself
     * @param failed        why the rank could not reach other ranks of its host; empty without such a failure
     */
    public record RankReport(String host, String name, String silentBecause, BitSet reached, String failed) {}

    /** Pairs of ranks to which one reason applies. */
    private static final class RankPairs {
        private final StringBuilder listed = new StringBuilder("ranks ");
        private final String what;
        private long count;

        RankPairs(String what) {
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
     * Makes the topology from what each rank reports.
     *
     * @param ranks reports, by rank
     */
    public NodeTopology(List<RankReport> ranks) {
        this.ranks = List.copyOf(ranks);
        this.none = null;
        this.hosts = new int[ranks.size()];
        Map<String, Integer> numbers = new HashMap<>();
        for (int rank = 0; rank < hosts.length; rank++) {
            Integer known = numbers.putIfAbsent(ranks.get(rank).host, numbers.size());
            hosts[rank] = known == null ? numbers.size() - 1 : known;
        }
    }

    private NodeTopology(int worldSize, String none) {
        // no memory for each rank, because each rank of a large group begins with such a topology
        this.ranks = Collections.nCopies(worldSize, new RankReport("", "", none, new BitSet(), ""));
        this.none = none;
        this.hosts = null;
    }

    /**
     * Returns the topology of ranks that share no memory.
     *
     * @param worldSize number of ranks
     * @param why       reason as a text
     */
    public static NodeTopology none(int worldSize, String why) {
        return new NodeTopology(worldSize, why);
    }

    /** {@return whether two ranks share memory; true for a rank and itself} */
    public boolean areNear(int a, int b) {
        return a == b || ranks.get(a).reached.get(b) && ranks.get(b).reached.get(a);
    }

    /** {@return the ranks that share memory with a rank, including the rank itself} */
    public BitSet near(int rank) {
        BitSet near = new BitSet();
        for (int other = 0; other < ranks.size(); other++) {
            near.set(other, areNear(rank, other));
        }
        return near;
    }

    /** {@return whether every rank shares memory with every other rank, so that collectives need no link} */
    public boolean isComplete() {
        for (int rank = 0; rank < ranks.size(); rank++) {
            if (near(rank).cardinality() < ranks.size()) {
                return false;
            }
        }
        return true;
    }

    /** {@return the number of the host of each rank} Ranks with different numbers share no memory. */
    public int[] hostNumbers() {
        return hosts == null ? new int[ranks.size()] : hosts.clone();
    }

    /**
     * Returns lines with the medium that carries data between ranks, and the reasons why ranks of one host do not share
     * memory, once per reason. That two ranks are on different hosts is not listed as a reason. If the ranks have
     * exchanged no reports, a medium without a text is not named.
     *
     * @param links medium that carries data between ranks that do not share memory
     * @return lines of text
     */
    public List<String> lines(Medium links) {
        if (isComplete()) {
            return List.of("all " + ranks.size() + " ranks share memory");
        }
        Map<Long, RankPairs> apart = apart(false);
        List<String> lines = new ArrayList<>();
        if (none == null) {
            lines.add(clusters(links, apart.isEmpty()));
        } else if (!links.text().isEmpty()) {
            lines.add("data: over " + links.text());
        }
        addReasons(apart, lines);
        return lines;
    }

    /**
     * Returns a line with the medium that carries data between ranks, by clusters. A cluster has the ranks that share
     * memory with the same ranks. A rank is in several clusters if two ranks share memory with a third rank but not
     * with each other.
     */
    private String clusters(Medium links, boolean onlyHostsAreApart) {
        List<BitSet> together = new ArrayList<>();
        List<BitSet> alone = new ArrayList<>();
        Map<BitSet, Boolean> known = new LinkedHashMap<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            BitSet near = near(rank);
            if (known.putIfAbsent(near, true) == null) {
                (near.cardinality() > 1 ? together : alone).add(near);
            }
        }
        String others = links.text().isEmpty() ? "links" : links.text();
        if (together.isEmpty()) {
            return "data: over " + others + ", " + listed(alone, links);
        }
        return "data: " + listed(together, links) + " over shared memory"
                + (alone.isEmpty() ? "" : ", " + listed(alone, links))
                + (onlyHostsAreApart ? ", between hosts over " : ", all else over ") + others;
    }

    private String listed(List<BitSet> clusters, Medium links) {
        boolean one = clusters.size() == 1 && clusters.get(0).cardinality() == 1;
        StringBuilder text = new StringBuilder(one ? "rank " : "ranks ");
        int shown = Math.min(CLUSTERS_LISTED, clusters.size());
        for (int i = 0; i < shown; i++) {
            boolean last = i == clusters.size() - 1;
            text.append(i == 0 ? "" : last ? " and " : ", ")
                    .append(runs(clusters.get(i)))
                    .append(host(clusters.get(i), links));
        }
        return clusters.size() > shown
                ? text + " and more on " + (clusters.size() - shown) + " hosts"
                : text.toString();
    }

    /** Returns ranks as runs, for example {@code 0-3, 6}. */
    private static String runs(BitSet cluster) {
        StringBuilder text = new StringBuilder();
        for (int from = cluster.nextSetBit(0); from >= 0; ) {
            int end = cluster.nextClearBit(from);
            text.append(text.isEmpty() ? "" : ", ").append(from);
            if (end - from > 1) {
                text.append('-').append(end - 1);
            }
            from = cluster.nextSetBit(end);
        }
        return text.toString();
    }

    /** Returns the name of the host of some ranks, with an address if another host has the same name. */
    private String host(BitSet cluster, Medium links) {
        int first = cluster.nextSetBit(0);
        String name = named(first);
        if (name.isEmpty()) {
            return "";
        }
        boolean ambiguous = false;
        for (int rank = 0; rank < ranks.size(); rank++) {
            ambiguous |= hostNumber(rank) != hostNumber(first) && named(rank).equals(name);
        }
        boolean hasAddress = ambiguous && first < links.addresses().size();
        return " (host " + name + (hasAddress ? " at " + links.addresses().get(first) : "") + ")";
    }

    /**
     * Lists the pairs of ranks that do not share memory, by reason. If {@code ofHostsToo}, ranks on different hosts are
     * listed too, with their hosts as the reason.
     */
    private Map<Long, RankPairs> apart(boolean ofHostsToo) {
        Map<Long, RankPairs> apart = new LinkedHashMap<>();
        for (int a = 0; a < ranks.size(); a++) {
            for (int b = a + 1; b < ranks.size(); b++) {
                if (!areNear(a, b) && (ofHostsToo || none != null || blamed(a, b) >= 0)) {
                    like(a, b, apart).add(a, b);
                }
            }
        }
        return apart;
    }

    private static void addReasons(Map<Long, RankPairs> apart, List<String> lines) {
        apart.values().stream().limit(REASONS_LISTED).forEach(pairs -> lines.add(pairs.toString()));
        if (apart.size() > REASONS_LISTED) {
            lines.add("other pairs do not share memory for " + (apart.size() - REASONS_LISTED) + " more reasons");
        }
    }

    /**
     * Returns the pairs that share no memory for the same reason. The text of the reason is made once, and only if the
     * text will be read.
     */
    private RankPairs like(int a, int b, Map<Long, RankPairs> apart) {
        return apart.computeIfAbsent(
                key(a, b),
                any -> new RankPairs(apart.size() < REASONS_LISTED ? "do not share memory: " + reason(a, b) : ""));
    }

    /**
     * Returns a key that is equal for all pairs with the same reason. The key stands for the rank that is the cause, or
     * for the two hosts of the pair.
     */
    private long key(int a, int b) {
        if (none != null) {
            return -1;
        }
        int blamed = blamed(a, b);
        if (blamed >= 0) {
            return -2L - blamed;
        }
        return (long) Math.min(hostNumber(a), hostNumber(b)) << SHIFT | Math.max(hostNumber(a), hostNumber(b));
    }

    /**
     * Returns the rank that prevents two ranks from sharing memory. Returns -1 if the two ranks are on different hosts.
     */
    private int blamed(int a, int b) {
        if (hostNumber(a) != hostNumber(b) && !host(a).isEmpty() && !host(b).isEmpty()) {
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
        RankReport said = ranks.get(blamed);
        if (!said.silentBecause.isEmpty()) {
            return "rank " + blamed + " offers no memory: " + said.silentBecause;
        }
        return "rank " + blamed + " says: " + (said.failed.isEmpty() ? "cause unknown" : said.failed);
    }

    /** Returns the name of a rank's host for texts. */
    private String named(int rank) {
        RankReport said = ranks.get(rank);
        return said.name.isEmpty() ? said.host : said.name;
    }

    private String host(int rank) {
        return ranks.get(rank).host;
    }

    private int hostNumber(int rank) {
        return hosts == null ? 0 : hosts[rank];
    }

    /**
     * Returns why ranks do not share memory. Different hosts are a reason too. Returns an empty text if all ranks share
     * memory.
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
