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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Finds from exit codes and output how the ranks of a job ended, for the analysis of their recordings. */
public final class Endings {
    private Endings() {}

    /** Returns how the processes of a job on one host ended, from their exit codes and their output. */
    public static Ends of(Supervisor.JobOutcome outcome, List<RankOutput> printed) {
        return of(outcome, printed, Map.of(), since(outcome.stoppedNanos(), printed));
    }

    /**
     * Returns how the processes of one node of several ended. Other launchers may have ended their ranks before this one ended
     * its own, but not before this one heard of a failure.
     */
    public static Ends ofOneNode(Supervisor.JobOutcome outcome, List<RankOutput> printed) {
        // times of System.nanoTime are compared by their difference
        Optional<Long> earlier = Stream.of(outcome.heardNanos(), outcome.stoppedNanos())
                .flatMap(Optional::stream)
                .min((first, second) -> Long.signum(first - second));
        return of(outcome, printed, Map.of(), since(earlier, printed));
    }

    private static Map<Integer, Long> since(Optional<Long> nanos, List<RankOutput> printed) {
        Map<Integer, Long> since = new HashMap<>();
        nanos.map(Endings::onTheWall).ifPresent(wallNanos -> printed.forEach(one -> since.put(one.rank(), wallNanos)));
        return since;
    }

    /**
     * Returns how the processes of a job ended.
     *
     * @param outcome   how they ended, as all launchers saw it
     * @param printed   output of ranks, if it is known
     * @param elsewhere places of ranks whose launchers have reported nothing
     * @param stopped   by rank, from when on the loss of a rank that was ended is no cause
     */
    public static Ends of(
            Supervisor.JobOutcome outcome,
            List<RankOutput> printed,
            Map<Integer, String> elsewhere,
            Map<Integer, Long> stopped) {
        Map<Integer, ProcessEnd> ends = new HashMap<>();
        elsewhere.forEach((rank, place) -> ends.put(rank, new ProcessEnd(EndKind.ELSEWHERE, place)));
        outcome.left().forEach(ended -> ends.put(ended.rank(), new ProcessEnd(EndKind.WELL, "")));
        outcome.failures().forEach(ended -> ends.put(ended.rank(), failed(ended, printed)));
        Set<Integer> ended = new HashSet<>(outcome.stopped());
        outcome.signal().flatMap(name -> outcome.stoppedNanos()).ifPresent(at -> ended.addAll(endedAfter(at, outcome)));
        ended.forEach(rank -> ends.put(rank, new ProcessEnd(EndKind.STOPPED, "")));
        outcome.halted().keySet().forEach(rank -> ends.put(rank, new ProcessEnd(EndKind.HALTED, "")));
        return new Ends(ends, ended, stopped);
    }

    /** Returns the ranks that ended after a signal that the launcher passed on. */
    private static List<Integer> endedAfter(long atNanos, Supervisor.JobOutcome outcome) {
        return Stream.concat(outcome.failures().stream(), outcome.left().stream())
                .filter(ended -> ended.atNanos() - atNanos > 0)
                .map(JobEvent.Ended::rank)
                .toList();
    }

    private static ProcessEnd failed(JobEvent.Ended ended, List<RankOutput> printed) {
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

    /** Converts a time to the wall clock, which recordings use. */
    public static long onTheWall(long nanos) {
        return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - (System.nanoTime() - nanos);
    }
}
