package ferro.collectives.shared;

import ferro.Medium;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Groups the ranks that share memory with the same ranks, and describes the groups for people. */
final class Clusters {
    /** Most clusters that a text lists: a group of many hosts has one per host. */
    private static final int LISTED = 8;

    private final NodeTopology nearness;
    private final Medium links;
    private final List<BitSet> together = new ArrayList<>();
    private final List<BitSet> alone = new ArrayList<>();

    /**
     * Sorts the ranks into clusters. A rank is in several clusters where two ranks share memory with a third but not with
     * each other.
     */
    Clusters(NodeTopology nearness, Medium links) {
        this.nearness = nearness;
        this.links = links;
        Map<BitSet, Boolean> known = new LinkedHashMap<>();
        for (int rank = 0; rank < nearness.worldSize(); rank++) {
            BitSet near = new BitSet();
            for (int other = 0; other < nearness.worldSize(); other++) {
                near.set(other, nearness.areNear(rank, other));
            }
            if (known.putIfAbsent(near, true) == null) {
                (near.cardinality() > 1 ? together : alone).add(near);
            }
        }
    }

    /** Returns a line that says which medium carries data between which ranks. */
    String line(boolean onlyHostsAreApart) {
        String others = links.text().isEmpty() ? "links" : links.text();
        if (together.isEmpty()) {
            return "data: over " + others + ", " + listed(alone);
        }
        return "data: " + listed(together) + " over shared memory" + (alone.isEmpty() ? "" : ", " + listed(alone))
                + (onlyHostsAreApart ? ", between hosts over " : ", all else over ") + others;
    }

    private String listed(List<BitSet> clusters) {
        boolean one = clusters.size() == 1 && clusters.get(0).cardinality() == 1;
        StringBuilder text = new StringBuilder(one ? "rank " : "ranks ");
        int shown = Math.min(LISTED, clusters.size());
        for (int i = 0; i < shown; i++) {
            boolean last = i == clusters.size() - 1;
            text.append(i == 0 ? "" : last ? " and " : ", ")
                    .append(runs(clusters.get(i)))
                    .append(host(clusters.get(i)));
        }
        return clusters.size() > shown
                ? text + " and more on " + (clusters.size() - shown) + " hosts"
                : text.toString();
    }

    /** Returns ranks as runs, for example {@code 0-3, 6}. */
    private static String runs(BitSet ranks) {
        StringBuilder text = new StringBuilder();
        for (int from = ranks.nextSetBit(0); from >= 0; ) {
            int end = ranks.nextClearBit(from);
            text.append(text.isEmpty() ? "" : ", ").append(from);
            if (end - from > 1) {
                text.append('-').append(end - 1);
            }
            from = ranks.nextSetBit(end);
        }
        return text.toString();
    }

    /** Returns the name of the host of some ranks, with an address where another host has that name too. */
    private String host(BitSet ranks) {
        int first = ranks.nextSetBit(0);
        String name = nearness.named(first);
        if (name.isEmpty()) {
            return "";
        }
        boolean ambiguous = false;
        for (int rank = 0; rank < nearness.worldSize(); rank++) {
            ambiguous |= nearness.hostNumber(rank) != nearness.hostNumber(first)
                    && nearness.named(rank).equals(name);
        }
        boolean hasAddress = ambiguous && first < links.addresses().size();
        return " (host " + name + (hasAddress ? " at " + links.addresses().get(first) : "") + ")";
    }
}
