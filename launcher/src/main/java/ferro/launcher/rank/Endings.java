package ferro.launcher.rank;

import ferro.launcher.analyze.Ends;
import ferro.launcher.analyze.Ends.EndKind;
import ferro.launcher.analyze.Ends.ProcessEnd;
import ferro.launcher.input.ExitCode;
import ferro.launcher.output.RankOutput;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Finds from exit codes and output how the ranks of a job ended, for the analysis of their recordings. */
public final class Endings {
    /** What has happened to a process that neither runs nor has ended. */
    public static final String SUSPENDED = "suspended by a signal (SIGSTOP, ctrl-Z, a debugger)";

    private Endings() {}

    /** Returns how the processes of a job ended, from their exit codes and their output. */
    public static Ends of(Supervisor.JobOutcome outcome, List<RankOutput> printed) {
        return of(outcome, printed, Map.of());
    }

    /** As {@link #of(Supervisor.JobOutcome, List)}, with the places of ranks that other launchers have started. */
    public static Ends of(Supervisor.JobOutcome outcome, List<RankOutput> printed, Map<Integer, String> elsewhere) {
        Map<Integer, ProcessEnd> ends = new HashMap<>();
        elsewhere.forEach((rank, place) -> ends.put(rank, new ProcessEnd(EndKind.ELSEWHERE, place)));
        outcome.left()
                .forEach(ended -> ends.put(ended.rank(), new ProcessEnd(EndKind.WELL, "it ended with exit code 0")));
        for (RankOutput one : printed) {
            outcome.failures().stream()
                    .filter(ended -> ended.rank() == one.rank())
                    .forEach(ended -> ends.put(one.rank(), failed(ended.code(), one)));
        }
        outcome.stopped()
                .forEach(rank -> ends.put(
                        rank, new ProcessEnd(EndKind.STOPPED, "it wrote no recording until the launcher stopped it")));
        outcome.halted()
                .forEach((rank, pid) -> ends.put(rank, new ProcessEnd(EndKind.HALTED, "its process was " + SUSPENDED)));
        return new Ends(
                ends,
                outcome.stopped(),
                outcome.stoppedNanos().map(Endings::onTheWall).orElse(Long.MAX_VALUE));
    }

    /**
     * As {@link #of(Supervisor.JobOutcome, List, Map)}, but counts ranks of other launchers as ended by these from the moment
     * when this launcher heard of the end of the job. It does not know when the others end their ranks.
     */
    public static Ends early(Supervisor.JobOutcome outcome, List<RankOutput> printed, Map<Integer, String> elsewhere) {
        Set<Integer> stopped = new HashSet<>(outcome.stopped());
        stopped.addAll(elsewhere.keySet());
        return new Ends(
                of(outcome, printed, elsewhere).byRank(),
                stopped,
                outcome.heardNanos().map(Endings::onTheWall).orElse(Long.MAX_VALUE));
    }

    private static ProcessEnd failed(int code, RankOutput printed) {
        if (ExitCode.isSignal(code)) {
            return new ProcessEnd(EndKind.SIGNAL, "its process is gone: " + ExitCode.describe(code));
        }
        return printed.threwItsOwn()
                ? new ProcessEnd(EndKind.THREW, "it threw " + printed.thrown().orElseThrow())
                : new ProcessEnd(EndKind.CODE, "it ended with " + ExitCode.describe(code));
    }

    /** Converts a time to the wall clock, which recordings use. */
    private static long onTheWall(long nanos) {
        return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - (System.nanoTime() - nanos);
    }
}
