package ferro.launcher;

import ferro.launcher.analyze.Analysis;
import ferro.launcher.nodes.LauncherEntry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The hosts of a job's ranks, and the folders in which each host stores their recordings.
 *
 * @param nodes   entries of the launchers, by number of the node
 * @param folders folders with recordings, by number of the node
 */
record RecordingLocations(List<LauncherEntry> nodes, Map<Integer, String> folders) {
    /** Returns the host of a rank, for example {@code host b} or {@code node 1 (host b, 10.0.0.2)}. */
    String of(int rank) {
        return nodes.size() == 1 ? "host " + nodes.get(0).host() : node(rank).toString();
    }

    /** Returns a text such as {@code on node 1 (host b, 10.0.0.2)}, after a space; empty for a job on one node. */
    String elsewhere(int rank) {
        return nodes.size() == 1 ? "" : " on " + node(rank);
    }

    LauncherEntry node(int rank) {
        return nodes.get(rank / nodes.get(0).ranks());
    }

    /**
     * Returns lines with commands that show more, each command on a separate line. Without recordings, returns no
     * lines. On several hosts, the lines name the host of each folder, unless every host has all folders.
     */
    List<String> more() {
        if (folders.isEmpty()) {
            return List.of();
        }
        String what = "the calls of every rank, and a timeline:";
        Invocation ferro = Invocation.ofProcess();
        SortedMap<Integer, String> byNode = new TreeMap<>(folders);
        Object[] all = byNode.values().stream().distinct().toArray();
        if (areOnAnyHost(byNode)) {
            return List.of(what, "  " + ferro.line("analyze", all));
        }
        if (byNode.size() == 1) {
            String host = nodes.get(byNode.firstKey()).host();
            return List.of(what, "  on host " + host + ": " + ferro.line("analyze", all));
        }
        List<String> lines = new ArrayList<>();
        lines.add(what + " copy these folders to one host, then " + ferro.line("analyze", "DIR", "DIR"));
        byNode.forEach((node, folder) ->
                lines.add("  " + folder + " on host " + nodes.get(node).host()));
        return lines;
    }

    /** Whether each host has all recordings, as is assumed if this host has the recordings of other nodes. */
    private boolean areOnAnyHost(SortedMap<Integer, String> byNode) {
        SortedMap<Integer, String> others = new TreeMap<>(byNode);
        others.remove(0);
        return nodes.stream().map(LauncherEntry::host).distinct().count() < 2
                || !others.isEmpty() && others.entrySet().stream().allMatch(one -> has(one.getKey(), one.getValue()));
    }

    /** Whether this host has the recordings of a node. A folder of the same name may be on another host. */
    private boolean has(int node, String folder) {
        try {
            return Analysis.files(Path.of(folder)).values().stream()
                    .flatMap(job -> job.keySet().stream())
                    .anyMatch(rank -> rank / nodes.get(node).ranks() == node);
        } catch (IOException elsewhere) {
            return false;
        }
    }
}
