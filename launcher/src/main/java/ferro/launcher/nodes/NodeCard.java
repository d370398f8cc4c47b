package ferro.launcher.nodes;

import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The data of a launcher that it publishes to the others.
 *
 * @param node    number of its node
 * @param host    name of its host
 * @param address its local address of the connection to the store
 * @param ranks   number of ranks that it starts
 * @param nodes   number of nodes of the job, as it was told
 * @param version of ferro
 * @param backend back end that was requested by name; empty if the choice was left open
 * @param debug   ranks that wait for a debugger, for example {@code 0, 2}; empty if there are none
 * @param session number of this run of the launcher, chosen at random
 * @param cores   name of the cores that it may use, the same for launchers that share them; empty if unknown
 * @param restarts how often the job may start again, for example {@code 3 in 1h}; empty for a job that never does
 * @param storePort port of the store of this generation's ranks on node 0; 0 if ranks have the store of launchers, and on
 *     other nodes
 */
public record NodeCard(
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
     * {@return the card of the only launcher of a job}
     *
     * @param host  name of the host
     * @param ranks number of ranks
     */
    public static NodeCard alone(String host, int ranks) {
        return new NodeCard(0, host, "", ranks, 1, "", "", "", 0, "", "", 0);
    }

    /**
     * Compares this card with that of another launcher of the job.
     *
     * @param other launcher of the same job
     * @return what differs, with both values and what to do; empty if they fit
     */
    public Optional<String> difference(NodeCard other) {
        // one after the other: the card of another version may lack a field that is compared after the version
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
     * @param other launcher of the same job
     * @return false if it is not known
     */
    public boolean sharesCores(NodeCard other) {
        return !cores.isEmpty() && cores.equals(other.cores);
    }

    private static String orNone(String debug) {
        return debug.isEmpty() ? "none" : debug;
    }

    private Optional<String> differs(String what, String own, NodeCard other, String others) {
        return own.equals(others)
                ? Optional.empty()
                : Optional.of(what + " differs: " + own + " on " + this + ", " + others + " on " + other
                        + ": need the same on all nodes");
    }

    /**
     * {@return the message for two launchers that claim one node, with both hosts}
     *
     * @param other launcher with the same number
     */
    public String sameNode(NodeCard other) {
        return "two launchers have --node-rank " + node + ": host " + host + " (" + address + ") and host " + other.host
                + " (" + other.address + "): need a different number from 0 to " + (nodes - 1) + " for each";
    }

    /** {@return the numbers of its ranks, for example {@code ranks 2, 3}} */
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
