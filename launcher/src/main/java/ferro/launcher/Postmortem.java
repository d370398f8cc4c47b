package ferro.launcher;

import ferro.launcher.analyze.Analysis;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What is said of a job that failed: which rank was first, who is to blame, and where there is more.
 *
 * <p>The rank whose process ended first need not be the one that failed first: whoever waits for a failed rank may end sooner
 * than it. Therefore a rank that the others blame goes before whoever ended earlier.
 *
 * @param outcome    how the ranks ended
 * @param analysis   what they recorded, if they did
 * @param recordings where
 */
record Postmortem(Supervisor.Outcome outcome, Optional<Analysis> analysis, Recordings recordings) {
    private static final int KILLED = ExitCode.ofSignal("KILL");

    static Postmortem of(Supervisor.Outcome outcome, String job, Recordings recordings) {
        boolean well = outcome.failures().isEmpty() && outcome.signal().isEmpty();
        return new Postmortem(outcome, well ? Optional.empty() : recordings.analyzed(job), recordings);
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

    FailureBox box(RankProcess first, double seconds) {
        return new FailureBox(
                new FailureBox.First(first.rank(), headline(first.rank()), hostName(), first.pid()),
                seconds,
                diagnosis(),
                others(first.rank()),
                new FailureBox.Printed(first.trace(), first.lastLines()),
                more());
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

    private List<String> diagnosis() {
        List<String> lines = new ArrayList<>();
        analysis.ifPresent(found -> {
            List<String> verdict = found.verdict();
            lines.add("diagnosis: " + verdict.get(0));
            verdict.stream().skip(1).limit(3).map(reason -> "  " + reason).forEach(lines::add);
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

    /** Says what became of the others: who failed by themselves later, who was stopped by us. */
    private List<String> others(int first) {
        List<String> lines = new ArrayList<>();
        Set<Integer> later =
                byItself().stream().map(JobEvent.Ended::rank).collect(Collectors.toCollection(TreeSet::new));
        later.remove(first);
        if (!later.isEmpty()) {
            lines.add("failed after it: " + named(later));
        }
        if (!outcome.stopped().isEmpty()) {
            lines.add("stopped because of it: " + named(outcome.stopped()));
        }
        return lines;
    }

    private static String named(Collection<Integer> ranks) {
        return "ranks " + ranks.stream().sorted().toList();
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
