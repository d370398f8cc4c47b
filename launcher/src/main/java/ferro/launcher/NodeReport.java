package ferro.launcher;

import com.google.gson.Gson;
import ferro.launcher.nodes.NodeCard;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * How the ranks of one node have ended, as its launcher tells the others.
 *
 * @param failures ranks that ended badly
 * @param left     ranks that ended well by themselves
 * @param stopped  ranks that were told to end because of a failure
 * @param halted   ranks that stood still, with their pids
 * @param signal   what ended the job from outside; null if nothing did
 * @param unshown  why what ranks print could not be shown; null if it could
 * @param printed  what ranks printed that ended by themselves, well or badly
 * @param findings what ranks recorded; null if they did not
 * @param folder   where
 */
record NodeReport(
        List<End> failures,
        List<End> left,
        Set<Integer> stopped,
        Map<Integer, Long> halted,
        String signal,
        String unshown,
        List<RankOutput> printed,
        Findings findings,
        String folder) {
    /** Of a rank that failed when it was being stopped: no node was told. */
    private static final long LAST = Long.MAX_VALUE;

    /** Half of what the store takes as one value. */
    private static final int MOST_BYTES = 1 << 19;

    private static final int MOST_WHOLE = 4;

    /**
     * The end of one rank.
     *
     * @param rank    which
     * @param code    exit code
     * @param order   among the failures of all nodes
     * @param seconds after the start of its launcher
     */
    record End(int rank, int code, long order, double seconds) {
        private JobEvent.Ended seen(long startedNanos) {
            return new JobEvent.Ended(rank, code, startedNanos + (long) (seconds * 1e9));
        }
    }

    static NodeReport of(Postmortem postmortem, Map<Integer, Long> orders, long startedNanos) {
        Supervisor.Outcome outcome = postmortem.outcome();
        return new NodeReport(
                ends(outcome.failures(), orders, startedNanos),
                ends(outcome.left(), orders, startedNanos),
                outcome.stopped(),
                outcome.halted(),
                outcome.signal().orElse(null),
                outcome.unshown().orElse(null),
                printed(postmortem),
                postmortem.findings().orElse(null),
                postmortem.places().folders().get(0));
    }

    /** A rank that left well may be to blame for a failure on another node, which is not known here. */
    private static List<RankOutput> printed(Postmortem postmortem) {
        Set<Integer> told = new HashSet<>();
        postmortem.outcome().failures().forEach(one -> told.add(one.rank()));
        postmortem.outcome().left().forEach(one -> told.add(one.rank()));
        return postmortem.printed().stream()
                .filter(one -> told.contains(one.rank()))
                .toList();
    }

    private static List<End> ends(List<JobEvent.Ended> ended, Map<Integer, Long> orders, long startedNanos) {
        return ended.stream()
                .map(one -> new End(
                        one.rank(),
                        one.code(),
                        orders.getOrDefault(one.rank(), LAST),
                        (one.atNanos() - startedNanos) / 1e9))
                .toList();
    }

    /** Returns it as a text that the store takes: of what ranks printed only as much as there is room for. */
    String encoded() {
        String whole = new Gson().toJson(this);
        if (fits(whole)) {
            return whole;
        }
        String brief = new Gson().toJson(brief());
        return fits(brief) ? brief : new Gson().toJson(with(List.of(), null));
    }

    private static boolean fits(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length <= MOST_BYTES;
    }

    /** Whoever is shown in a box, if it is one of this node's, keeps all its lines. */
    private NodeReport brief() {
        Set<Integer> shown = new HashSet<>();
        failures.stream().min(Comparator.comparingLong(End::order)).ifPresent(end -> shown.add(end.rank()));
        if (findings != null) {
            findings.guilty().stream().limit(MOST_WHOLE).forEach(shown::add);
        }
        List<RankOutput> outputs = printed.stream()
                .map(one -> shown.contains(one.rank()) ? one : one.brief())
                .toList();
        return with(outputs, findings);
    }

    private NodeReport with(List<RankOutput> outputs, Findings found) {
        return new NodeReport(failures, left, stopped, halted, signal, unshown, outputs, found, folder);
    }

    static NodeReport decoded(String text) {
        return new Gson().fromJson(text, NodeReport.class);
    }

    /** Returns what all reports say together, as if one launcher had seen all ranks. */
    static Postmortem merged(Map<Integer, NodeReport> reports, List<NodeCard> nodes, long startedNanos) {
        Map<Integer, String> folders = new HashMap<>();
        reports.forEach((node, report) -> {
            if (report.folder != null) {
                folders.put(node, report.folder);
            }
        });
        return new Postmortem(
                outcome(reports, nodes, startedNanos),
                reports.values().stream().flatMap(one -> one.printed.stream()).toList(),
                best(reports, nodes),
                new Places(nodes, folders));
    }

    private static Supervisor.Outcome outcome(
            Map<Integer, NodeReport> byNode, List<NodeCard> nodes, long startedNanos) {
        Collection<NodeReport> reports = byNode.values();
        Set<Integer> stopped = new HashSet<>();
        Map<Integer, Long> halted = new HashMap<>();
        reports.forEach(one -> {
            stopped.addAll(one.stopped);
            halted.putAll(one.halted);
        });
        return new Supervisor.Outcome(
                reports.stream()
                        .flatMap(one -> one.failures.stream())
                        .sorted(Comparator.comparingLong(End::order).thenComparing(End::rank))
                        .map(end -> end.seen(startedNanos))
                        .toList(),
                reports.stream()
                        .flatMap(one -> one.left.stream())
                        .map(end -> end.seen(startedNanos))
                        .toList(),
                stopped,
                Optional.empty(),
                halted,
                reports.stream()
                        .map(NodeReport::signal)
                        .filter(Objects::nonNull)
                        .findFirst(),
                byNode.entrySet().stream()
                        .filter(one -> one.getValue().unshown != null)
                        .map(one -> nodes.get(one.getKey()) + ": " + one.getValue().unshown)
                        .findFirst());
    }

    /** Whoever has seen the end of the rank that it blames knows most; then whoever blames any. */
    private static Optional<Findings> best(Map<Integer, NodeReport> reports, List<NodeCard> nodes) {
        List<Findings> found = new ArrayList<>();
        reports.values().stream()
                .map(NodeReport::findings)
                .filter(Objects::nonNull)
                .forEach(found::add);
        int ranks = nodes.get(0).ranks();
        return reports.entrySet().stream()
                .filter(one -> one.getValue().findings != null)
                .filter(one -> one.getValue().findings.guilty().stream().anyMatch(rank -> rank / ranks == one.getKey()))
                .map(one -> one.getValue().findings)
                .findFirst()
                .or(() -> found.stream().filter(one -> !one.guilty().isEmpty()).findFirst())
                .or(() -> found.stream().findFirst());
    }
}
