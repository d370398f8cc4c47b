package ferro.backend.tcp.mesh;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A rank that has published its address but is not connected, with the result of the attempts to connect. Used in
 * messages.
 *
 * @param home    machine of the rank, with its address
 * @param address published address and port
 * @param trouble result of the connection attempts
 * @param tries   number of attempts that this rank has made; 0 if the other rank connects
 * @param reached whether one of the two ranks has reached the other rank, or both ranks are on one host
 */
record UnconnectedRank(int rank, String home, String address, String trouble, int tries, boolean reached) {
    private static final int ADDRESSES_MOST = 4;
    private static final int GROUPS_MOST = 8;

    /** Text for a rank that is connected to this rank, and that waits for other ranks. */
    static final String WAITING = "connected, and itself waiting for other ranks";

    /**
     * Describes all ranks in one text. Ranks of the same host that have the same problem share one entry. Ranks that
     * only wait for other ranks come last.
     */
    static String text(List<UnconnectedRank> all) {
        Map<String, List<UnconnectedRank>> together = new LinkedHashMap<>();
        all.stream()
                .sorted(Comparator.comparingInt(UnconnectedRank::place))
                .forEach(one -> together.computeIfAbsent(one.home + "\n" + one.trouble, key -> new ArrayList<>())
                        .add(one));
        String text = together.values().stream()
                .limit(GROUPS_MOST)
                .map(UnconnectedRank::sentence)
                .collect(Collectors.joining("; "));
        int untold = together.size() - GROUPS_MOST;
        return untold > 0 ? text + "; and " + untold + " more entries" : text;
    }

    private int place() {
        if (trouble.equals(WAITING)) {
            return 2;
        }
        return tries > 0 ? 0 : 1;
    }

    private static String sentence(List<UnconnectedRank> same) {
        UnconnectedRank first = same.get(0);
        String ranks = same.stream().map(one -> "" + one.rank).collect(Collectors.joining(", "));
        String addresses = same.stream()
                .map(UnconnectedRank::address)
                .limit(ADDRESSES_MOST)
                .collect(Collectors.joining(", "));
        int more = same.size() - ADDRESSES_MOST;
        int tries = same.stream().mapToInt(UnconnectedRank::tries).max().orElse(0);
        return (same.size() == 1 ? "rank " : "ranks ") + ranks + " on " + first.home + " announced " + addresses
                + (more > 0 ? " and " + more + " more" : "") + "; "
                + (tries > 0 ? "connect: " + first.trouble + " (attempts: " + tries + ")" : first.trouble);
    }
}
