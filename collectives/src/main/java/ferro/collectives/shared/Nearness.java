package ferro.collectives.shared;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Which ranks of a group share memory, and why the others do not; equal on all ranks once they have met. Immutable. */
public final class Nearness {
    private static final int PAIRS_LISTED = 4;

    private final List<String> hosts;
    private final boolean[][] near;
    private final String[][] reasons;

    /**
     * Makes it of what each rank says.
     *
     * @param hosts   of each rank
     * @param reached which ranks each rank has reached, itself among them
     * @param reasons why a rank has not reached another, by both; null where it has, or cannot tell
     */
    public Nearness(List<String> hosts, List<BitSet> reached, String[][] reasons) {
        int worldSize = hosts.size();
        this.hosts = List.copyOf(hosts);
        this.near = new boolean[worldSize][worldSize];
        this.reasons = new String[worldSize][worldSize];
        for (int a = 0; a < worldSize; a++) {
            for (int b = 0; b < worldSize; b++) {
                near[a][b] = a == b || reached.get(a).get(b) && reached.get(b).get(a);
                this.reasons[a][b] = reasons[a][b] == null ? reasons[b][a] : reasons[a][b];
            }
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
        List<String> hosts = new ArrayList<>();
        List<BitSet> reached = new ArrayList<>();
        String[][] reasons = new String[worldSize][worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            hosts.add("");
            reached.add(new BitSet());
            java.util.Arrays.fill(reasons[rank], why);
        }
        return new Nearness(hosts, reached, reasons);
    }

    /**
     * Returns whether two ranks share memory.
     *
     * @param a rank
     * @param b rank
     * @return true for a rank and itself
     */
    public boolean areNear(int a, int b) {
        return near[a][b];
    }

    /**
     * Returns the ranks that share memory with one.
     *
     * @param rank which
     * @return by rank, itself among them
     */
    public boolean[] nearTo(int rank) {
        return near[rank].clone();
    }

    /**
     * Returns whether all ranks share memory with all.
     *
     * @return then collectives need no link
     */
    public boolean isComplete() {
        for (boolean[] row : near) {
            for (boolean each : row) {
                if (!each) {
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
        return hosts.get(rank);
    }

    /**
     * Says who shares memory with whom, and once per reason why others do not.
     *
     * @return lines for people
     */
    public List<String> lines() {
        Map<String, List<String>> together = new LinkedHashMap<>();
        Map<String, List<String>> apart = new LinkedHashMap<>();
        int worldSize = near.length;
        boolean complete = isComplete();
        for (int a = 0; a < worldSize && !complete; a++) {
            for (int b = a + 1; b < worldSize; b++) {
                Map<String, List<String>> into = near[a][b] ? together : apart;
                String why = near[a][b] ? "" : reasons[a][b] == null ? "cause unknown" : reasons[a][b];
                into.computeIfAbsent(why, any -> new ArrayList<>()).add(a + "-" + b);
            }
        }
        List<String> lines = new ArrayList<>();
        if (complete) {
            lines.add("all " + worldSize + " ranks share memory");
        }
        together.values().forEach(pairs -> lines.add(pairs(pairs) + " share memory"));
        apart.forEach((why, pairs) -> lines.add(pairs(pairs) + " do not share memory: " + why));
        return lines;
    }

    private static String pairs(List<String> pairs) {
        int listed = Math.min(PAIRS_LISTED, pairs.size());
        String text = "ranks " + String.join(", ", pairs.subList(0, listed));
        return listed == pairs.size() ? text : text + " and " + (pairs.size() - listed) + " more pairs";
    }

    @Override
    public String toString() {
        return String.join("; ", lines());
    }
}
