package ferro.launcher;

import ferro.launcher.analyze.Ends;
import ferro.launcher.analyze.Ends.End;
import ferro.launcher.analyze.Ends.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** How the ranks of a job ended, for the analysis of what they recorded: by exit codes and by what they printed. */
final class Endings {
    private Endings() {}

    static Ends of(Supervisor.Outcome outcome, List<RankOutput> printed) {
        return of(outcome, printed, Map.of());
    }

    /** As {@link #of(Supervisor.Outcome, List)}, with the places of ranks that other launchers have started. */
    static Ends of(Supervisor.Outcome outcome, List<RankOutput> printed, Map<Integer, String> elsewhere) {
        Map<Integer, End> ends = new HashMap<>();
        elsewhere.forEach((rank, place) -> ends.put(rank, new End(Kind.ELSEWHERE, place)));
        outcome.left().forEach(ended -> ends.put(ended.rank(), new End(Kind.WELL, "it ended with exit code 0")));
        for (RankOutput one : printed) {
            outcome.failures().stream()
                    .filter(ended -> ended.rank() == one.rank())
                    .forEach(ended -> ends.put(one.rank(), failed(ended.code(), one)));
        }
        outcome.stopped()
                .forEach(rank ->
                        ends.put(rank, new End(Kind.STOPPED, "it wrote no recording until the launcher stopped it")));
        outcome.halted()
                .forEach((rank, pid) ->
                        ends.put(rank, new End(Kind.STOPPED, "its process stood still, stopped by a signal")));
        return new Ends(
                ends,
                outcome.stopped(),
                outcome.stoppedNanos().map(Endings::onTheWall).orElse(Long.MAX_VALUE));
    }

    private static End failed(int code, RankOutput printed) {
        if (ExitCode.isSignal(code)) {
            return new End(Kind.SIGNAL, "its process is gone: " + ExitCode.describe(code));
        }
        return printed.threwItsOwn()
                ? new End(Kind.THREW, "it threw " + printed.thrown().orElseThrow())
                : new End(Kind.CODE, "it ended with " + ExitCode.describe(code));
    }

    /** Recordings tell time by the wall clock. */
    private static long onTheWall(long nanos) {
        return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - (System.nanoTime() - nanos);
    }
}
