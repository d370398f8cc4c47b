package ferro.launcher;

import ferro.launcher.input.HostName;
import ferro.launcher.nodes.NodeCard;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Where the ranks of a job run, and where each host keeps their recordings.
 *
 * @param nodes   by number; empty for a job on this host alone
 * @param folders folders with recordings, by number of the node; the number is 0 for a job on this host alone
 */
record RecordingLocations(List<NodeCard> nodes, Map<Integer, String> folders) {
    static RecordingLocations here(Path folder, boolean recorded) {
        return new RecordingLocations(List.of(), recorded ? Map.of(0, folder.toString()) : Map.of());
    }

    /** Returns where a rank runs, for example {@code host b} or {@code node 1 (host b, 10.0.0.2)}. */
    String of(int rank) {
        return nodes.isEmpty() ? "host " + HostName.ofKernel() : node(rank).toString();
    }

    /** Returns {@code  on node 1 (host b, 10.0.0.2)}; nothing for a job on this host alone. */
    String elsewhere(int rank) {
        return nodes.isEmpty() ? "" : " on " + node(rank);
    }

    NodeCard node(int rank) {
        return nodes.get(rank / nodes.get(0).ranks());
    }

    /** Returns how to learn more, with each command to type on its own line; empty if nothing was recorded. */
    List<String> more() {
        if (folders.isEmpty()) {
            return List.of();
        }
        String what = "the calls of every rank, and a timeline";
        Invocation ferro = Invocation.ofProcess();
        return nodes.isEmpty()
                ? List.of(what + ":", "  " + ferro.line("analyze", folders.get(0)))
                : List.of(
                        what + ": run " + ferro.line("analyze", "DIR") + " on each host:",
                        "  "
                                + new TreeMap<>(folders)
                                        .entrySet().stream()
                                                .map(one -> one.getValue() + " on "
                                                        + nodes.get(one.getKey())
                                                                .host())
                                                .collect(Collectors.joining(", ")));
    }
}
