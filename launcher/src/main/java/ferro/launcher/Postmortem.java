package ferro.launcher;

import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.Words;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * What is said of a job that failed: which rank was first, who is to blame, and where there is more.
 *
 * <p>The rank whose process ended first need not be the one that failed first: whoever waits for a failed rank may end sooner
 * than it. Therefore a rank that the others blame goes before whoever ended earlier.
 *
 * @param outcome    how the ranks ended
 * @param printed    what they printed
 * @param analysis   what they recorded, if they did
 * @param recordings where
 */
record Postmortem(
        Supervisor.Outcome outcome, List<RankOutput> printed, Optional<Analysis> analysis, Recordings recordings) {
    private static final int KILLED = ExitCode.ofSignal("KILL");
    private static final int MOST_REASONS = 3;

    static Postmortem of(Supervisor.Outcome outcome, List<RankOutput> printed, String job, Recordings recordings) {
        boolean well = outcome.failures().isEmpty() && outcome.signal().isEmpty();
        Optional<Analysis> analysis = well ? Optional.empty() : recordings.analyzed(job, Endings.of(outcome, printed));
        return new Postmortem(outcome, printed, analysis, recordings);
    }

    /** Returns the end of the rank that failed first. */
    JobEvent.Ended first() {
        JobEvent.Ended earliest = outcome.failures().get(0);
        return byItself().stream()
                .filter(ended -> guilty().contains(ended.rank()))
                .findFirst()
                .or(() -> outcome.left().stream()
                        .filter(ended -> guilty().contains(ended.rank()))
                        .findFirst())
                .orElse(earliest);
    }

    /** Returns the exit code of the job: that of the first rank, unless it ended as if all were well. */
    int code() {
        int code = first().code();
        return code == ExitCode.OK ? outcome.failures().get(0).code() : code;
    }

    private Set<Integer> guilty() {
        return analysis.map(Analysis::guilty).orElse(Set.of());
    }

    /** Ends that we have not brought about. */
    private List<JobEvent.Ended> byItself() {
        return outcome.failures().stream()
                .filter(ended -> !outcome.stopped().contains(ended.rank()))
                .toList();
    }

    FailureBox box(double seconds) {
        RankOutput first = output(first().rank());
        boolean innocent = !guilty().isEmpty() && !guilty().contains(first.rank());
        return new FailureBox(
                new FailureBox.First(first.rank(), headline(first.rank()), hostName(), first.pid()),
                seconds,
                diagnosis(!first.trace().isEmpty()),
                others(first.rank()),
                new FailureBox.Printed(first.trace(), first.lastLines(), innocent),
                more());
    }

    private RankOutput output(int rank) {
        return printed.stream().filter(one -> one.rank() == rank).findFirst().orElseThrow();
    }

    private String headline(int first) {
        int code = first().code();
        String how = code == ExitCode.OK
                ? "ended too early: exit code 0, while others still needed it"
                : "failed first: " + ExitCode.describe(code);
        String ended = "rank " + first + " " + how;
        if (guilty().isEmpty() || guilty().contains(first)) {
            return ended;
        }
        String blamed = guilty().size() == 1
                ? "rank " + guilty().iterator().next() + " is to blame"
                : named(guilty()) + " are to blame";
        return blamed + "; " + ended;
    }

    /** What ranks tell of an exception has its first frames, of which there are more below if the rank printed them. */
    private List<String> diagnosis(boolean traceBelow) {
        List<String> lines = new ArrayList<>();
        analysis.ifPresent(found -> {
            List<String> verdict = found.verdict();
            lines.add("diagnosis: " + verdict.get(0));
            for (String reason : verdict.subList(1, Math.min(verdict.size(), 1 + MOST_REASONS))) {
                List<String> told = FoldedTrace.of(apart(reason));
                told.stream()
                        .limit(traceBelow ? 1 : told.size())
                        .map(line -> "  " + line)
                        .forEach(lines::add);
            }
        });
        if (first().code() == KILLED) {
            lines.add(
                    "signal KILL comes from somebody's kill -9, or from the kernel when memory runs out (dmesg shows it)");
        }
        outcome.halted()
                .forEach((rank, pid) -> lines.add("rank " + rank + ", pid " + pid
                        + ", stood still: somebody had stopped it by a signal (SIGSTOP, ctrl-Z, a debugger);"
                        + " kill -s CONT " + pid + " would have let it go on"));
        return lines;
    }

    /** A recording is read with blanks for line breaks. */
    private static List<String> apart(String reason) {
        return reason.replaceAll(" (?= {4}at \\S| {2}caused by )", "\n").lines().toList();
    }

    /** Says what became of the others: who failed by themselves later, by what, and who was stopped by us. */
    private List<String> others(int first) {
        // why ranks that are to blame have ended, the diagnosis says
        List<JobEvent.Ended> later = byItself().stream()
                .filter(ended -> ended.rank() != first && !guilty().contains(ended.rank()))
                .toList();
        Map<String, Set<Integer>> same = sharing(later, this::reason);
        Map<String, Set<Integer>> alike = sharing(later, this::reasonLessItself);
        // what several heard may name one of them, and what each heard may name itself
        Map<String, Set<Integer>> reasons = sharing(
                later,
                ended -> same.get(reason(ended)).size()
                                >= alike.get(reasonLessItself(ended)).size()
                        ? reason(ended)
                        : reasonLessItself(ended));
        List<String> lines = new ArrayList<>();
        reasons.forEach((reason, ranks) -> lines.add("failed after it: " + named(ranks) + ": " + reason));
        if (!outcome.stopped().isEmpty()) {
            lines.add("stopped because of it: " + named(outcome.stopped()));
        }
        return lines;
    }

    private static Map<String, Set<Integer>> sharing(
            List<JobEvent.Ended> ends, Function<JobEvent.Ended, String> reason) {
        Map<String, Set<Integer>> sharing = new LinkedHashMap<>();
        ends.forEach(ended -> sharing.computeIfAbsent(reason.apply(ended), key -> new TreeSet<>())
                .add(ended.rank()));
        return sharing;
    }

    private String reason(JobEvent.Ended ended) {
        return output(ended.rank()).reason().orElseGet(() -> ExitCode.describe(ended.code()));
    }

    private String reasonLessItself(JobEvent.Ended ended) {
        return reason(ended).replaceAll("\\brank " + ended.rank() + "\\b", "this rank");
    }

    private static String named(Collection<Integer> ranks) {
        return "ranks [" + Words.numbers(ranks) + "]";
    }

    private List<String> more() {
        return analysis.isPresent()
                ? List.of("what every rank did, call by call, and a timeline: ./ferro analyze " + recordings.folder())
                : List.of();
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "(without a name)";
        }
    }
}
