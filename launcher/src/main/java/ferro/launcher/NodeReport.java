package ferro.launcher;

import com.google.gson.Gson;
import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.Verdict;
import ferro.launcher.nodes.NodeCard;
import ferro.launcher.output.RankOutput;
import ferro.launcher.program.Recordings;
import ferro.launcher.rank.Endings;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor;
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
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * How the ranks of one node have ended, as its launcher reports it to the others.
 *
 * @param failures ranks that ended badly
 * @param left     ranks that ended well by themselves
 * @param stopped  ranks that were told to end because of a failure
 * @param halted   ranks that were halted, with their pids
 * @param signal   what ended the job from outside; null if nothing did
 * @param unshown  why the output of ranks could not be shown; null if it could
 * @param printed  output of ranks that ended by themselves, well or badly
 * @param recordings what the ranks recorded; null if there was no room for it
 * @param folder   folder of the recordings
 * @param passed   signals that its launcher passed on, with the ranks that were sent them
 */
record NodeReport(
        List<OrderedEnd> failures,
        List<OrderedEnd> left,
        Set<Integer> stopped,
        Map<Integer, Long> halted,
        String signal,
        String unshown,
        List<RankOutput> printed,
        NodeRecordings recordings,
        String folder,
        Map<String, Set<Integer>> passed) {
    /** Order of a rank that failed while it was being stopped: no node was told of it. */
    private static final long LAST = Long.MAX_VALUE;

    /** Half of what the store takes as one value. */
    private static final int MOST_BYTES = 1 << 19;

    private static final int MOST_WHOLE = 4;

    /**
     * The end of one rank.
     *
     * @param rank    number of the rank
     * @param code    exit code
     * @param order   among the failures of all nodes
     * @param seconds since the start of its launcher
     */
    record OrderedEnd(int rank, int code, long order, double seconds) {
        private JobEvent.Ended seen(long startedNanos) {
            return new JobEvent.Ended(rank, code, startedNanos + (long) (seconds * 1e9));
        }
    }

    static NodeReport of(JobEnd end, NodeRecordings recordings, Map<Integer, Long> orders, long startedNanos) {
        Supervisor.JobOutcome outcome = end.outcome();
        return new NodeReport(
                ends(outcome.failures(), orders, startedNanos),
                ends(outcome.left(), orders, startedNanos),
                outcome.stopped(),
                outcome.halted(),
                outcome.signal().orElse(null),
                outcome.unshown().orElse(null),
                printed(end),
                recordings,
                recordings.brief().isEmpty() ? null : end.recordings().folder().toString(),
                outcome.passed());
    }

    /**
     * Returns the output of ranks that ended by themselves. A rank that ended well is included: it may be to blame for a
     * failure on another node, which this launcher does not know.
     */
    private static List<RankOutput> printed(JobEnd end) {
        Set<Integer> ended = new HashSet<>();
        end.outcome().failures().forEach(one -> ended.add(one.rank()));
        end.outcome().left().forEach(one -> ended.add(one.rank()));
        return end.printed().stream().filter(one -> ended.contains(one.rank())).toList();
    }

    private static List<OrderedEnd> ends(List<JobEvent.Ended> ended, Map<Integer, Long> orders, long startedNanos) {
        return ended.stream()
                .map(one -> new OrderedEnd(
                        one.rank(),
                        one.code(),
                        orders.getOrDefault(one.rank(), LAST),
                        (one.atNanos() - startedNanos) / 1e9))
                .toList();
    }

    /**
     * Returns it as a text that fits into the store. If there is no room for all, lines of output are left out first, then
     * the recordings, then all output.
     */
    String encoded() {
        NodeReport brief = brief();
        return Stream.of(this, brief, with(brief.printed, null))
                .map(new Gson()::toJson)
                .filter(NodeReport::fits)
                .findFirst()
                .orElseGet(() -> new Gson().toJson(with(List.of(), null)));
    }

    private static boolean fits(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length <= MOST_BYTES;
    }

    /** Returns a shorter report. A rank of this node that a box may show keeps all its lines. */
    private NodeReport brief() {
        Set<Integer> shown = new HashSet<>();
        failures.stream().min(Comparator.comparingLong(OrderedEnd::order)).ifPresent(end -> shown.add(end.rank()));
        if (recordings != null) {
            recordings.blamed().stream().limit(MOST_WHOLE).forEach(shown::add);
        }
        List<RankOutput> outputs = printed.stream()
                .map(one -> shown.contains(one.rank()) ? one : one.brief())
                .toList();
        return with(outputs, recordings);
    }

    private NodeReport with(List<RankOutput> outputs, NodeRecordings found) {
        return new NodeReport(failures, left, stopped, halted, signal, unshown, outputs, found, folder, passed);
    }

    static NodeReport decoded(String text) {
        return new Gson().fromJson(text, NodeReport.class);
    }

    /**
     * Merges all reports, as if one launcher had seen all ranks.
     *
     * @param reports      by number of the node
     * @param nodes        all nodes
     * @param startedNanos when the job was started here
     * @param notes        takes a line if the recordings cannot be analyzed
     */
    static Postmortem merged(
            Map<Integer, NodeReport> reports, List<NodeCard> nodes, long startedNanos, Consumer<String> notes) {
        Map<Integer, String> folders = new HashMap<>();
        reports.forEach((node, report) -> {
            if (report.folder != null) {
                folders.put(node, report.folder);
            }
        });
        Supervisor.JobOutcome outcome = outcome(reports, nodes, startedNanos);
        return new Postmortem(
                outcome,
                printed(reports),
                verdict(reports, nodes, outcome, notes),
                new RecordingLocations(nodes.get(0).host(), nodes, folders));
    }

    /** Returns the verdict on the recordings of all nodes. */
    private static Optional<Verdict> verdict(
            Map<Integer, NodeReport> reports,
            List<NodeCard> nodes,
            Supervisor.JobOutcome outcome,
            Consumer<String> notes) {
        Map<Integer, String> lost = new HashMap<>();
        Map<Integer, Long> heard = new HashMap<>();
        List<String> texts = new ArrayList<>();
        Map<Integer, String> damaged = new HashMap<>();
        for (NodeCard node : nodes) {
            NodeReport report = reports.get(node.node());
            Optional<NodeRecordings> recordings = Optional.ofNullable(report).map(NodeReport::recordings);
            recordings.map(NodeRecordings::brief).ifPresent(brief -> {
                texts.addAll(brief.texts());
                damaged.putAll(brief.damaged());
            });
            for (int rank = node.node() * node.ranks(); rank < (node.node() + 1) * node.ranks(); rank++) {
                int of = rank;
                recordings.ifPresent(one -> heard.put(of, one.heardWallNanos()));
                if (report == null) {
                    lost.put(rank, node.toString());
                }
            }
        }
        return Recordings.analyzed(
                        new Analysis.Brief(texts, damaged),
                        Endings.of(outcome, printed(reports), lost, heard),
                        why -> notes.accept("the recordings could not be analyzed (" + why
                                + "): the failure report does not use them"))
                .map(Analysis::judged);
    }

    private static List<RankOutput> printed(Map<Integer, NodeReport> reports) {
        return reports.values().stream().flatMap(one -> one.printed.stream()).toList();
    }

    private static Supervisor.JobOutcome outcome(
            Map<Integer, NodeReport> byNode, List<NodeCard> nodes, long startedNanos) {
        Collection<NodeReport> reports = byNode.values();
        Set<Integer> stopped = new HashSet<>();
        Map<Integer, Long> halted = new HashMap<>();
        Map<String, Set<Integer>> passed = new TreeMap<>();
        reports.forEach(one -> {
            one.passed.forEach((name, ranks) ->
                    passed.computeIfAbsent(name, first -> new HashSet<>()).addAll(ranks));
            stopped.addAll(one.stopped);
            halted.putAll(one.halted);
        });
        return new Supervisor.JobOutcome(
                reports.stream()
                        .flatMap(one -> one.failures.stream())
                        .sorted(Comparator.comparingLong(OrderedEnd::order).thenComparing(OrderedEnd::rank))
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
                        .findFirst(),
                passed,
                Optional.empty());
    }
}
