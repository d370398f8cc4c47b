package ferro.launcher.nodes;

import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The entry of a launcher, which is the data that a launcher publishes to the other launchers.
 *
 * @param node      number of the launcher's node
 * @param host      name of the launcher's host
 * @param address   local address of the launcher's connection to the store
 * @param ranks     number of ranks that the launcher starts
 * @param nodes     number of nodes of the job, from the launcher's options
 * @param version   version of ferro
 * @param backend   back end that the user has named; empty if the user has named none
 * @param debug     ranks that wait for a debugger, for example {@code 0, 2}; empty for no rank
 * @param session   random number of this run of the launcher
 * @param cores     name of the set of cores of the launcher, equal for launchers with the same cores; empty if unknown
 * @param restarts  how often the job may start again, for example {@code 3 in 1h}; empty for a job without restarts
 * @param storePort port of the separate store for the ranks of this generation on node 0; 0 on other nodes, and if
 *     ranks use the store of the launchers
 */
public record LauncherEntry(
        int node,
        String host,
        String address,
        int ranks,
        int nodes,
        String version,
        String backend,
        String debug,
        long session,
        String cores,
        String restarts,
        int storePort) {
    /**
     * {@return the entry of the only launcher of a job}
     *
     * @param host  name of the host
     * @param ranks number of ranks
     */
    public static LauncherEntry alone(String host, int ranks) {
        return new LauncherEntry(0, host, "", ranks, 1, "", "", "", 0, "", "", 0);
    }

    /**
     * Compares this entry with the entry of another launcher of the job.
     *
     * @param other entry of another launcher of the same job
     * @return text about a difference, with both values and what to do; empty if the launchers can run one job
     */
    public Optional<String> difference(LauncherEntry other) {
        // the version is compared first, because the entry of another version may lack a field that is compared later
        return Stream.<Supplier<Optional<String>>>of(
                        () -> differs("--nodes", "" + nodes, other, "" + other.nodes),
                        () -> differs("-n", "" + ranks, other, "" + other.ranks),
                        () -> differs("the version of ferro", version, other, other.version),
                        () -> backend.isEmpty() || other.backend.isEmpty()
                                ? Optional.empty()
                                : differs("the back end", backend, other, other.backend),
                        () -> differs("--debug", orNone(debug), other, orNone(other.debug)),
                        () -> differs("--restarts", orNone(restarts), other, orNone(other.restarts)))
                .map(Supplier::get)
                .flatMap(Optional::stream)
                .findFirst();
    }

    /**
     * Returns whether another launcher of the job uses the same cores.
     *
     * @param other entry of another launcher of the same job
     * @return false if the cores of one launcher are unknown
     */
    public boolean sharesCores(LauncherEntry other) {
        return !cores.isEmpty() && cores.equals(other.cores);
    }

    private static String orNone(String debug) {
        return debug.isEmpty() ? "none" : debug;
    }

    private Optional<String> differs(String what, String own, LauncherEntry other, String others) {
        return own.equals(others)
                ? Optional.empty()
                : Optional.of(what + " differs: " + own + " on " + this + ", " + others + " on " + other
                        + ": need the same on all nodes");
    }

    /**
     * {@return the message about two launchers that claim one node, with both hosts}
     *
     * @param other entry of the launcher with the same number
     */
    public String sameNode(LauncherEntry other) {
        return "two launchers have --node-rank " + node + ": host " + host + " (" + address + ") and host " + other.host
                + " (" + other.address + "): need a different number from 0 to " + (nodes - 1) + " for each";
    }

    /** {@return the numbers of the launcher's ranks, for example {@code ranks 2, 3}} */
    public String rankNumbers() {
        String numbers = IntStream.range(node * ranks, (node + 1) * ranks)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(", "));
        return (ranks == 1 ? "rank " : "ranks ") + numbers;
    }

    /** Returns a name for people, for example {@code node 1 (host b, 10.0.0.2)}. */
    @Override
    public String toString() {
        return "node " + node + " (host " + host + ", " + address + ")";
    }
}
