package ferro.launcher;

import ferro.RankEnd;
import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.ProcessEnds;
import ferro.launcher.analyze.RankFormatter;
import ferro.launcher.analyze.Verdict;
import ferro.launcher.analyze.VerdictFormatter;
import ferro.launcher.analyze.VerdictFormatter.ShownContext;
import ferro.launcher.input.ExitCode;
import ferro.launcher.nodes.LauncherEntry;
import ferro.launcher.nodes.LostNode;
import ferro.launcher.output.FailureBox;
import ferro.launcher.output.FailureBox.ReportedOutput;
import ferro.launcher.output.FailureBox.TracePart;
import ferro.launcher.output.RankOutput;
import ferro.launcher.output.TraceShortener;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The report on a failed job: the rank that failed first, the rank to blame, and commands that show more.
 *
 * <p>The rank whose process ended first is not always the rank that failed first. A rank that waits for a failed rank
 * may end before the failed rank ends. Therefore a rank that other ranks blame has priority over a rank that ended
 * earlier.
 *
 * @param outcome how the ranks ended
 * @param printed output of the ranks
 * @param verdict verdict on the ranks' recordings; empty without recordings
 * @param places  hosts of the ranks, and folders of their recordings
 */
record Postmortem(JobOutcome outcome, List<RankOutput> printed, Optional<Verdict> verdict, RecordingLocations places) {
    private static final int KILLED = ExitCode.ofSignal("KILL");
    private static final int MOST_REASONS = 4;
    /** Largest number of ranks to blame that get separate lines. */
    private static final int SHOWN_CULPRITS = 3;

    private static final long NO_PID = 0;

    /**
     * Returns the report on a job.
     *
     * @param reports      reports of the launchers, by number of the node; a node without a report is lost
     * @param nodes        all nodes
     * @param startedNanos time at which this launcher started the ranks
     * @param analyzed     analyses the recordings of the ranks
     */
    static Postmortem of(
            Map<Integer, NodeReport> reports,
            List<LauncherEntry> nodes,
            long startedNanos,
            Function<ProcessEnds, Optional<Analysis>> analyzed) {
        JobOutcome outcome = NodeReport.merged(reports, nodes, startedNanos);
        boolean well = reports.size() == nodes.size()
                && outcome.failures().isEmpty()
                && outcome.signal() == null
                && outcome.stopped().isEmpty();
        Optional<Verdict> verdict = well
                ? Optional.empty()
                : analyzed.apply(NodeReport.ends(reports, nodes)).map(Analysis::judged);
        Map<Integer, String> folders = new TreeMap<>();
        reports.forEach((node, report) -> {
            if (report.folder() != null && (nodes.size() > 1 || verdict.isPresent())) {
                folders.put(node, report.folder());
            }
        });
        List<RankOutput> printed =
                reports.values().stream().flatMap(one -> one.printed().stream()).toList();
        return new Postmortem(outcome, printed, verdict, new RecordingLocations(nodes, folders));
    }

    /** Returns the end of the rank that failed first. */
    JobEvent.RankEndEvent first() {
        JobEvent.RankEndEvent earliest = outcome.failures().get(0);
        return byItself().stream()
                .filter(ended -> guilty().contains(ended.rank()))
                .findFirst()
                .or(() -> outcome.left().stream()
                        .filter(ended -> guilty().contains(ended.rank()))
                        .findFirst())
                .orElse(earliest);
    }

    /** Returns the exit code of the job: the code of the first rank or, if this is 0, of the first failed rank. */
    int code() {
        int code = first().code();
        return code == ExitCode.OK ? outcome.failures().get(0).code() : code;
    }

    /** Returns one line with the ranks to blame and the last output of the rank that failed first. */
    String cause() {
        JobEvent.RankEndEvent first = first();
        String how = ExitCode.signal(first.code())
                .map(name -> " was ended by signal " + name)
                .orElseGet(() -> " ended with exit code " + first.code() + lastWord(first));
        return (isBlamed(first.rank()) ? "" : blame() + "; ") + "rank " + first.rank() + how;
    }

    /** Returns the exception or the last line of a rank, shortened as in a {@link RankEnd}; may be empty. */
    private String lastWord(JobEvent.RankEndEvent ended) {
        Optional<RankOutput> output = known(ended.rank());
        Optional<String> thrown = output.flatMap(RankOutput::reason);
        String line = thrown.or(() -> output.map(RankOutput::lastLine)).orElse("");
        return RankEnd.of(NO_PID, "", ended.code())
                .afterLine(line)
                .lastLine()
                .map(text -> (thrown.isPresent() ? ": " : "; its last line: ") + text)
                .orElse("");
    }

    /** Whether the rank that ended first is to blame, as far as this launcher knows. */
    private boolean isBlamed(int first) {
        return guilty().isEmpty() || judged().contains(first);
    }

    private String blame() {
        String ranks = RankFormatter.ranks(guilty());
        return judged().isEmpty()
                ? ranks + " did not join"
                : ranks + (guilty().size() == 1 ? " is to blame" : " are to blame");
    }

    /** Returns the ranks that the recordings blame, or else the ranks without which other ranks could not join. */
    private Set<Integer> guilty() {
        return judged().isEmpty() ? absent() : judged();
    }

    private Set<Integer> judged() {
        return verdict.<Set<Integer>>map(Verdict::guilty).orElse(Set.of());
    }

    /** Returns the ranks that were missing when other ranks joined, without ranks that themselves waited to join. */
    private Set<Integer> absent() {
        Set<Integer> absent = new TreeSet<>();
        printed.forEach(one -> absent.addAll(one.missing()));
        printed.stream().filter(one -> !one.missing().isEmpty()).forEach(one -> absent.remove(one.rank()));
        return absent;
    }

    /** Returns the ends of ranks that failed by themselves and that no launcher has caused. */
    private List<JobEvent.RankEndEvent> byItself() {
        return outcome.failures().stream()
                .filter(ended -> !outcome.stopped().contains(ended.rank()))
                .toList();
    }

    /** Returns the ranks of nodes that are not lost. */
    private Set<Integer> reported() {
        Set<Integer> reported = new HashSet<>(outcome.stopped());
        Stream.concat(outcome.failures().stream(), outcome.left().stream())
                .forEach(ended -> reported.add(ended.rank()));
        return reported;
    }

    /** Whether a rank with an observed end is to blame. The end of this rank is the cause even if a node is lost. */
    boolean blamesARankThatItSaw() {
        return byItself().stream().anyMatch(ended -> guilty().contains(ended.rank()));
    }

    /** Returns the failure report of a job whose first failure is the loss of a node. */
    FailureBox box(List<LostNode> lost, double seconds) {
        LauncherEntry first = lost.get(0).entry();
        List<String> lines = new ArrayList<>();
        // the first line of the report has the reason why the first node is lost
        lost.forEach(one -> lines.add(one.entry()
                + (one.entry().ranks() == 1
                        ? ": its " + one.entry().rankNumbers() + " cannot continue"
                        : ": none of its " + one.entry().rankNumbers() + " can continue")
                + (one == lost.get(0) ? "" : ": " + one.why())));
        if (!guilty().isEmpty() && Collections.disjoint(guilty(), reported())) {
            // without this condition, the first line and the diagnosis would blame different ranks
            lines.addAll(recorded(ShownContext.NOTHING, false));
        }
        String headline = "node " + first.node() + " is lost: " + lost.get(0).why();
        FailureBox.FailureSource node =
                new FailureBox.FailureSource(FailureBox.NO_RANK, headline, first + ", " + first.rankNumbers(), 0);
        ReportedOutput nothing = new ReportedOutput(List.of(), TracePart.NONE, FailureBox.NO_RANK, List.of());
        return new FailureBox(node, seconds, lines, others(FailureBox.NO_RANK), nothing, places.more());
    }

    FailureBox box(double seconds) {
        RankOutput first = output(first().rank());
        TracePart part = shown(first);
        RankOutput last =
                guilty().size() == 1 ? known(guilty().iterator().next()).orElse(first) : first;
        List<String> lines = culprits(first.rank());
        boolean below = part == TracePart.COMPLETE || part == TracePart.FRAMES;
        lines.addAll(diagnosis(below && !first.trace().isEmpty()));
        int rank = first.rank();
        FailureBox.FailureSource start =
                new FailureBox.FailureSource(rank, headline(rank), places.of(rank), first.pid());
        ReportedOutput printedOnes = new ReportedOutput(first.trace(), part, last.rank(), last.lastLines());
        return new FailureBox(start, seconds, lines, others(rank), printedOnes, places.more());
    }

    /** Returns how much of the first rank's exception the report shows. The diagnosis may contain the rest. */
    private TracePart shown(RankOutput first) {
        boolean explained = isExplained(first);
        if (isDeadlock() || explained && guilty().contains(first.rank())) {
            return TracePart.FRAMES;
        }
        if (guilty().isEmpty() || guilty().contains(first.rank())) {
            return TracePart.COMPLETE;
        }
        return explained ? TracePart.NONE : TracePart.FIRST_LINE;
    }

    /** Whether the diagnosis contains the failure that ended a rank, even if the rank caught its exception. */
    private boolean isExplained(RankOutput one) {
        return one.reason()
                .map(explainedReasons()::contains)
                .orElseGet(() ->
                        verdict.filter(found -> found.explains(one.rank())).isPresent());
    }

    /** Returns the reasons for the ends of ranks that ended by the failure in the diagnosis. */
    private Set<String> explainedReasons() {
        Set<String> explained = new HashSet<>();
        verdict.ifPresent(found -> printed.stream()
                .filter(one -> found.explains(one.rank(), one.code().orElse("")))
                .forEach(one -> one.reason().ifPresent(explained::add)));
        return explained;
    }

    /** Returns the hosts of the ranks to blame, without the first rank. */
    private List<String> culprits(int first) {
        List<String> lines = new ArrayList<>();
        if (guilty().size() <= SHOWN_CULPRITS && !isDeadlock()) {
            guilty().stream().filter(rank -> rank != first).forEach(rank -> {
                long pid = output(rank).pid();
                lines.add("rank " + rank + ": " + places.of(rank) + (pid == NO_PID ? "" : ", pid " + pid));
            });
        }
        return lines;
    }

    private boolean isDeadlock() {
        return verdict.filter(Verdict::isDeadlock).isPresent();
    }

    private RankOutput output(int rank) {
        return known(rank).orElseGet(() -> untold(rank));
    }

    private Optional<RankOutput> known(int rank) {
        return printed.stream().filter(one -> one.rank() == rank).findFirst();
    }

    /** Returns a placeholder for output that is missing in a report, for example because the report was too long. */
    private static RankOutput untold(int rank) {
        return new RankOutput(rank, NO_PID, List.of(), List.of("(its launcher did not report its output)"));
    }

    private String headline(int first) {
        int code = first().code();
        String how = code == ExitCode.OK
                ? "ended too early: exit code 0, but other ranks still needed it"
                : "failed first: " + ExitCode.describe(code);
        String ended = "rank " + first + " " + how;
        if (isDeadlock()) {
            return "deadlock; " + ended;
        }
        return isBlamed(first) ? ended : blame() + "; " + ended;
    }

    /** Returns the diagnosis, with the first frames of a recorded exception unless its printed trace is shown. */
    private List<String> recorded(ShownContext beside, boolean traceBelow) {
        List<String> lines = new ArrayList<>();
        verdict.map(found -> VerdictFormatter.of(found, beside)).ifPresent(texts -> {
            lines.add("diagnosis: " + texts.get(0));
            for (String reason : texts.subList(1, Math.min(texts.size(), 1 + MOST_REASONS))) {
                List<String> explained = TraceShortener.of(reason.lines().toList());
                explained.stream()
                        .limit(traceBelow ? 1 : explained.size())
                        .map(line -> "  " + line)
                        .forEach(lines::add);
            }
        });
        return lines;
    }

    private List<String> diagnosis(boolean traceBelow) {
        JobEvent.RankEndEvent first = first();
        ShownContext beside = new ShownContext(
                output(first.rank()).thrown().filter(any -> traceBelow),
                Optional.of(ExitCode.describe(first.code())).filter(any -> guilty().equals(Set.of(first.rank()))));
        List<String> lines = recorded(beside, traceBelow);
        if (first.code() == KILLED) {
            lines.add("signal KILL comes from a kill -9, or from the kernel if memory runs out (dmesg shows it)");
        }
        ExitCode.signal(first.code())
                .filter(name -> outcome.passed().getOrDefault(name, Set.of()).contains(first.rank()))
                .ifPresent(name -> lines.add("its launcher received signal " + name
                        + " and passed it on to its ranks; the signal ends a rank that does not handle it"));
        outcome.halted().forEach((rank, pid) -> lines.add(halted(rank, pid)));
        return lines;
    }

    private String halted(int rank, long pid) {
        String node = places.elsewhere(rank);
        return verdict.filter(found -> found.saysSuspended(rank)).isPresent()
                ? "kill -s CONT " + pid + node + " would have resumed rank " + rank
                : "rank " + rank + ", pid " + pid + node + ", was " + ProcessEnds.SUSPENDED + "; kill -s CONT " + pid
                        + " would have resumed it";
    }

    /** Returns the other ranks that failed later by themselves, with reasons, and the ranks that were stopped. */
    private List<String> others(int first) {
        // the diagnosis explains the ends of the ranks to blame
        List<JobEvent.RankEndEvent> later = outcome.failures().stream()
                .filter(ended -> ended.rank() != first && !guilty().contains(ended.rank()))
                .filter(ended -> !outcome.stopped().contains(ended.rank())
                        || output(ended.rank()).reason().isPresent())
                .toList();
        List<String> lines = new ArrayList<>();
        List<JobEvent.RankEndEvent> explained = later.stream()
                .filter(ended -> isExplained(output(ended.rank())))
                .toList();
        if (!explained.isEmpty()) {
            lines.add("failed because of it: "
                    + RankFormatter.ranks(
                            explained.stream().map(JobEvent.RankEndEvent::rank).toList()));
        }
        List<JobEvent.RankEndEvent> untold =
                later.stream().filter(ended -> !explained.contains(ended)).toList();
        reasons(untold)
                .forEach(
                        (reason, ranks) -> lines.add("failed after it: " + RankFormatter.ranks(ranks) + ": " + reason));
        lines.addAll(stopped(later));
        return lines;
    }

    /** Returns the reasons for ends of ranks, each with all ranks that have the same reason. */
    private Map<String, Set<Integer>> reasons(List<JobEvent.RankEndEvent> ends) {
        Map<String, Set<Integer>> same = sharing(ends, this::reason);
        Map<String, Set<Integer>> alike = sharing(ends, this::reasonLessItself);
        // a reason of several ranks may name one of them; reasons that differ only in the rank's number are merged
        return sharing(
                ends,
                ended -> same.get(reason(ended)).size()
                                >= alike.get(reasonLessItself(ended)).size()
                        ? reason(ended)
                        : reasonLessItself(ended));
    }

    /** Returns the ranks that the launcher has stopped, without ranks that had already failed by themselves. */
    private List<String> stopped(List<JobEvent.RankEndEvent> failed) {
        Set<Integer> innocent = new TreeSet<>(outcome.stopped());
        failed.forEach(ended -> innocent.remove(ended.rank()));
        Set<Integer> culprits = new TreeSet<>(innocent);
        culprits.retainAll(guilty());
        innocent.removeAll(culprits);
        culprits.removeAll(outcome.halted().keySet());
        List<String> lines = new ArrayList<>();
        if (!culprits.isEmpty()) {
            lines.add(RankFormatter.ranks(culprits)
                    + (culprits.size() == 1
                            ? " was still running: its launcher has ended it"
                            : " were still running: their launcher has ended them"));
        }
        if (!innocent.isEmpty()) {
            lines.add("stopped because of it: " + RankFormatter.ranks(innocent));
        }
        return lines;
    }

    private static Map<String, Set<Integer>> sharing(
            List<JobEvent.RankEndEvent> ends, Function<JobEvent.RankEndEvent, String> reason) {
        Map<String, Set<Integer>> sharing = new LinkedHashMap<>();
        ends.forEach(ended -> sharing.computeIfAbsent(reason.apply(ended), key -> new TreeSet<>())
                .add(ended.rank()));
        return sharing;
    }

    private String reason(JobEvent.RankEndEvent ended) {
        return output(ended.rank()).reason().orElseGet(() -> ExitCode.describe(ended.code()));
    }

    private String reasonLessItself(JobEvent.RankEndEvent ended) {
        return reason(ended).replaceAll("\\brank " + ended.rank() + "\\b", "this rank");
    }
}
