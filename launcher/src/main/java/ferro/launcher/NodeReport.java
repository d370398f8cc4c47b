package ferro.launcher;

import com.google.gson.Gson;
import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.ProcessEnds;
import ferro.launcher.analyze.ProcessEnds.EndKind;
import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import ferro.launcher.analyze.RankEndsFile;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.Placement;
import ferro.launcher.nodes.LauncherEntry;
import ferro.launcher.nodes.LostNode;
import ferro.launcher.output.RankOutput;
import ferro.launcher.program.RecordingsFolder;
import ferro.launcher.rank.JobEvent.RankEndEvent;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The report of a launcher about its node: the ends, the output and the recordings of the ranks. A job of one node has
 * one report. The reports of several nodes go to the launcher of node 0.
 *
 * @param outcome      how the ranks ended
 * @param printed      output of ranks, without the job's secret
 * @param recordings   recordings of the ranks; null if the recordings did not fit into the report, and for a job of one
 *     node
 * @param blamed       ranks that the recordings blame, whose output the report keeps
 * @param folder       folder of the recordings; null without recordings
 * @param orders       numbers of this node's failures among the failures of all nodes, by rank
 * @param startedNanos time at which the ranks were started, on the clock of this report
 * @param wallNanos    wall clock of the host, in nanoseconds since 1970, minus the clock of this report
 */
record NodeReport(
        JobOutcome outcome,
        List<RankOutput> printed,
        Analysis.Excerpt recordings,
        Set<Integer> blamed,
        String folder,
        Map<Integer, Long> orders,
        long startedNanos,
        long wallNanos) {
    /** The order number of a failure while the launcher stopped the rank. No node was notified of this failure. */
    private static final long LAST = Long.MAX_VALUE;

    /** Maximum bytes of a report: half of the limit for a value in the store. */
    private static final int MOST_BYTES = 1 << 19;

    private static final int MOST_WHOLE = 4;

    /** Returns the report about ranks that this launcher has started. */
    static NodeReport of(JobOutcome outcome, List<RankOutput> printed, RecordingsFolder recordings, long startedNanos) {
        long wallNanos = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();
        String folder = recordings.folder().toString();
        return new NodeReport(outcome, printed, null, Set.of(), folder, Map.of(), startedNanos, wallNanos);
    }

    /** Writes the ends of the ranks and the lost nodes next to the recordings of the ranks, if recordings exist. */
    void keep(RecordingsFolder recordings, String job, Placement placement, List<LostNode> lost) throws IOException {
        if (recordings.hasAny(job)) {
            Long since = outcome.stoppedNanos();
            // another launcher may have ended its ranks earlier, but not before this launcher received a failure;
            // times of System.nanoTime are compared by their difference
            boolean earlier = placement.nodes() > 1
                    && outcome.heardNanos() != null
                    && (since == null || outcome.heardNanos() - since < 0);
            RankEndsFile.write(
                    recordings.folder(),
                    job,
                    placement.nodeRank(),
                    ends(earlier ? outcome.heardNanos() : since)
                            .without(lost.stream().map(LostNode::said).toList()));
        }
    }

    /**
     * Returns how the processes of the ranks ended, from their exit codes and their output.
     *
     * @param sinceNanos time from which the loss of a rank that a launcher has ended is not a cause; null if no rank
     *     was ended
     */
    ProcessEnds ends(Long sinceNanos) {
        Map<Integer, ProcessEnd> ends = new HashMap<>();
        outcome.left().forEach(ended -> ends.put(ended.rank(), new ProcessEnd(EndKind.WELL, "")));
        outcome.failures().forEach(ended -> ends.put(ended.rank(), failed(ended)));
        Set<Integer> stopped = new HashSet<>(outcome.stopped());
        if (outcome.signal() != null && outcome.stoppedNanos() != null) {
            Stream.concat(outcome.failures().stream(), outcome.left().stream())
                    .filter(ended -> ended.atNanos() - outcome.stoppedNanos() > 0)
                    .forEach(ended -> stopped.add(ended.rank()));
        }
        stopped.forEach(rank -> ends.put(rank, new ProcessEnd(EndKind.STOPPED, "")));
        outcome.halted().keySet().forEach(rank -> ends.put(rank, new ProcessEnd(EndKind.HALTED, "")));
        Map<Integer, Long> since = new HashMap<>();
        if (sinceNanos != null) {
            ends.keySet().forEach(rank -> since.put(rank, sinceNanos + wallNanos));
        }
        return new ProcessEnds(ends, stopped, since);
    }

    private ProcessEnd failed(RankEndEvent ended) {
        String code = ExitCode.describe(ended.code());
        if (ExitCode.isSignal(ended.code())) {
            return new ProcessEnd(EndKind.SIGNAL, code);
        }
        return printed.stream()
                .filter(one -> one.rank() == ended.rank() && one.threwItsOwn())
                .findFirst()
                .map(one -> new ProcessEnd(EndKind.THREW, one.thrown().orElseThrow()))
                .orElseGet(() -> new ProcessEnd(EndKind.CODE, code));
    }

    /**
     * Returns the report for other launchers, with the recordings and with the output of ranks that ended by
     * themselves. The report includes ranks that ended with exit code 0. A rank with exit code 0 may have caused a
     * failure on another node, of which this launcher has no report.
     */
    NodeReport reported(Analysis.Excerpt brief) {
        Set<Integer> ended = new HashSet<>();
        Stream.concat(outcome.failures().stream(), outcome.left().stream()).forEach(one -> ended.add(one.rank()));
        // node 0 analyses these recordings too, and reports a failure of the analysis
        Set<Integer> guilty = RecordingsFolder.analyzed(brief, ProcessEnds.UNSEEN, why -> {})
                .map(Analysis::guilty)
                .orElse(Set.of());
        List<RankOutput> outputs =
                printed.stream().filter(one -> ended.contains(one.rank())).toList();
        String kept = brief.isEmpty() ? null : folder;
        return new NodeReport(outcome, outputs, brief, guilty, kept, orders, startedNanos, wallNanos);
    }

    /** Returns this report with the numbers of this node's failures among the failures of all nodes. */
    NodeReport ordered(Map<Integer, Long> among) {
        return new NodeReport(outcome, printed, recordings, blamed, folder, among, startedNanos, wallNanos);
    }

    /**
     * Returns the report as a text that fits into the store. If the report is too long, omits lines of output first,
     * then the recordings, and last all output.
     */
    String encoded() {
        NodeReport brief = brief();
        return Stream.of(this, brief, with(brief.printed, null))
                .map(new Gson()::toJson)
                .filter(text -> text.getBytes(StandardCharsets.UTF_8).length <= MOST_BYTES)
                .findFirst()
                .orElseGet(() -> new Gson().toJson(with(List.of(), null)));
    }

    /** Returns a shorter report. All lines of a rank that the failure report may show are kept. */
    private NodeReport brief() {
        Set<Integer> shown = new HashSet<>();
        outcome.failures().stream().min(Comparator.comparingLong(this::order)).ifPresent(end -> shown.add(end.rank()));
        blamed.stream().limit(MOST_WHOLE).forEach(shown::add);
        List<RankOutput> outputs = printed.stream()
                .map(one -> shown.contains(one.rank()) ? one : one.brief())
                .toList();
        return with(outputs, recordings);
    }

    private long order(RankEndEvent ended) {
        return orders.getOrDefault(ended.rank(), LAST);
    }

    private NodeReport with(List<RankOutput> outputs, Analysis.Excerpt found) {
        return new NodeReport(outcome, outputs, found, blamed, folder, orders, startedNanos, wallNanos);
    }

    static NodeReport decoded(String text) {
        return new Gson().fromJson(text, NodeReport.class);
    }

    /**
     * Returns the ends of the processes of all nodes.
     *
     * @param reports reports by number of the node; a node without a report is lost
     */
    static ProcessEnds ends(Map<Integer, NodeReport> reports, List<LauncherEntry> nodes) {
        ProcessEnds all = ProcessEnds.UNSEEN;
        for (LauncherEntry node : nodes) {
            NodeReport report = reports.get(node.node());
            Map<Integer, ProcessEnd> lost = new HashMap<>();
            for (int rank = node.node() * node.ranks(); rank < (node.node() + 1) * node.ranks(); rank++) {
                lost.put(rank, new ProcessEnd(EndKind.ELSEWHERE, node.toString()));
            }
            all = all.and(
                    report == null ? new ProcessEnds(lost, Set.of(), Map.of()) : report.ends(report.since(nodes)));
        }
        return all;
    }

    /**
     * Returns the time from which launchers may have ended ranks. On several nodes, this is the time at which this
     * launcher received the first failure.
     */
    private Long since(List<LauncherEntry> nodes) {
        if (nodes.size() == 1) {
            return outcome.stoppedNanos();
        }
        return recordings == null ? null : outcome.heardNanos();
    }

    /** Returns the analysis of the recordings of several nodes; empty without recordings, or if the analysis fails. */
    static Optional<Analysis> analyzed(Collection<NodeReport> reports, ProcessEnds ends, Consumer<String> notes) {
        List<String> texts = new ArrayList<>();
        Map<Integer, String> damaged = new HashMap<>();
        reports.stream().filter(one -> one.recordings != null).forEach(one -> {
            texts.addAll(one.recordings.texts());
            damaged.putAll(one.recordings.damaged());
        });
        return RecordingsFolder.analyzed(
                new Analysis.Excerpt(texts, damaged),
                ends,
                why -> notes.accept(
                        "the recordings could not be analyzed (" + why + "): the failure report does not use them"));
    }

    /**
     * Merges the ends of all nodes, as if one launcher had started all ranks.
     *
     * @param byNode       reports by number of the node
     * @param nodes        all nodes
     * @param startedNanos time at which this launcher started its ranks
     */
    static JobOutcome merged(Map<Integer, NodeReport> byNode, List<LauncherEntry> nodes, long startedNanos) {
        if (nodes.size() == 1) {
            return byNode.get(0).outcome;
        }
        Map<Integer, Long> order = new HashMap<>();
        List<RankEndEvent> failures = new ArrayList<>();
        List<RankEndEvent> left = new ArrayList<>();
        Set<Integer> stopped = new HashSet<>();
        Map<Integer, Long> halted = new HashMap<>();
        Map<String, Set<Integer>> passed = new TreeMap<>();
        String signal = null;
        String unshown = null;
        for (Map.Entry<Integer, NodeReport> report : byNode.entrySet()) {
            JobOutcome seen = report.getValue().outcome;
            long later = startedNanos - report.getValue().startedNanos;
            order.putAll(report.getValue().orders);
            seen.failures()
                    .forEach(one -> failures.add(new RankEndEvent(one.rank(), one.code(), one.atNanos() + later)));
            seen.left().forEach(one -> left.add(new RankEndEvent(one.rank(), one.code(), one.atNanos() + later)));
            stopped.addAll(seen.stopped());
            halted.putAll(seen.halted());
            seen.passed()
                    .forEach((name, ranks) -> passed.computeIfAbsent(name, first -> new HashSet<>())
                            .addAll(ranks));
            signal = signal == null ? seen.signal() : signal;
            unshown = unshown == null && seen.unshown() != null
                    ? nodes.get(report.getKey()) + ": " + seen.unshown()
                    : unshown;
        }
        failures.sort(Comparator.comparingLong((RankEndEvent one) -> order.getOrDefault(one.rank(), LAST))
                .thenComparing(RankEndEvent::rank));
        return new JobOutcome(failures, left, stopped, null, halted, signal, unshown, passed, null);
    }
}
