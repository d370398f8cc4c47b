package ferro.backend.tcp;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A rank that announced itself and is not connected, and what was tried; for messages.
 *
 * @param rank    rank
 * @param home    the machine it is on, with its address
 * @param address address and port that it announced
 * @param trouble what came of it
 * @param tries   how often this rank has tried; 0 where the other one connects
 */
record Unconnected(int rank, String home, String address, String trouble, int tries) {
    private static final int ADDRESSES_MOST = 4;
    private static final int GROUPS_MOST = 8;

    /** What is said of one that is in the same place as this rank. */
    static final String WAITING = "connected, and waiting for others there";

    /** Says it of all, those of one host with the same trouble together: first what was tried here, last who only waits. */
    static String text(List<Unconnected> all) {
        Map<String, List<Unconnected>> together = new LinkedHashMap<>();
        all.stream()
                .sorted(Comparator.comparingInt(Unconnected::place))
                .forEach(one -> together.computeIfAbsent(one.home + "\n" + one.trouble, key -> new ArrayList<>())
                        .add(one));
        String text = together.values().stream()
                .limit(GROUPS_MOST)
                .map(Unconnected::sentence)
                .collect(Collectors.joining("; "));
        int untold = together.size() - GROUPS_MOST;
        return untold > 0 ? text + "; and the like of " + untold + " more" : text;
    }

    private int place() {
        if (trouble.equals(WAITING)) {
            return 2;
        }
        return tries > 0 ? 0 : 1;
    }

    private static String sentence(List<Unconnected> same) {
        Unconnected first = same.get(0);
        String ranks = same.stream().map(one -> "" + one.rank).collect(Collectors.joining(", "));
        String addresses =
                same.stream().map(Unconnected::address).limit(ADDRESSES_MOST).collect(Collectors.joining(", "));
        int more = same.size() - ADDRESSES_MOST;
        int tries = same.stream().mapToInt(Unconnected::tries).max().orElse(0);
        return (same.size() == 1 ? "rank " : "ranks ") + ranks + " on " + first.home + " announced " + addresses
                + (more > 0 ? " and " + more + " more" : "") + "; "
                + (tries > 0 ? "connect: " + first.trouble + " (attempts: " + tries + ")" : first.trouble);
    }
}
