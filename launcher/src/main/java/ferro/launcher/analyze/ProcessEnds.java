package ferro.launcher.analyze;

import ferro.control.failure.Failure;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The ends of the ranks' processes, as their launchers observed them. A rank that is killed or ends by itself may leave
 * no recording, and a recording does not contain an exit code. Immutable.
 *
 * @param byRank           how each rank ended; a rank whose end was not observed has no entry
 * @param stopped          ranks that their launchers ended because of another rank
 * @param stoppedWallNanos by rank, the time from which a report of this rank is a consequence if it reports the loss of
 *     a stopped rank. The time is in nanoseconds since 1970 on the clock of the reporting rank's host; absent if the
 *     time is unknown
 * @param lost             nodes that a launcher has lost, each in one line with the reason
 */
public record ProcessEnds(
        Map<Integer, ProcessEnd> byRank,
        Set<Integer> stopped,
        Map<Integer, Long> stoppedWallNanos,
        SortedSet<String> lost) {
    /** The text about a process that neither runs nor has ended. */
    public static final String SUSPENDED = "suspended by a signal (SIGSTOP, ctrl-Z, a debugger)";

    /** An object without observed ends, for an analysis of recordings without a launcher. */
    public static final ProcessEnds UNSEEN = new ProcessEnds(Map.of(), Set.of(), Map.of());

    /**
     * Copies the maps and the sets.
     *
     * @param byRank           how each rank ended
     * @param stopped          ranks that their launchers ended
     * @param stoppedWallNanos times from which reports about lost stopped ranks are not a cause
     * @param lost             nodes that are lost
     */
    public ProcessEnds {
        byRank = Map.copyOf(byRank);
        stopped = Set.copyOf(stopped);
        stoppedWallNanos = Map.copyOf(stoppedWallNanos);
        lost = Collections.unmodifiableSortedSet(new TreeSet<>(lost));
    }

    /**
     * Creates the ends of ranks in a job without a lost node.
     *
     * @param byRank           how each rank ended
     * @param stopped          ranks that their launchers ended
     * @param stoppedWallNanos times from which reports about lost stopped ranks are not a cause
     */
    public ProcessEnds(Map<Integer, ProcessEnd> byRank, Set<Integer> stopped, Map<Integer, Long> stoppedWallNanos) {
        this(byRank, stopped, stoppedWallNanos, Collections.emptySortedSet());
    }

    /**
     * {@return the ends of this object with the loss of nodes}
     *
     * @param nodes lost nodes, each in one line with the reason
     */
    public ProcessEnds without(Collection<String> nodes) {
        return new ProcessEnds(byRank, stopped, stoppedWallNanos, new TreeSet<>(nodes));
    }

    /** The ways in which a process can end. */
    public enum EndKind {
        /** The process ended by an exception of the program that reports no group's failure; detail: the exception. */
        THREW,
        /** The process ended with exit code 0. */
        WELL,
        /** The process ended by a signal that the launcher did not send; detail: the signal. */
        SIGNAL,
        /** The process ended with another exit code, perhaps as a consequence of a failed group; detail: the code. */
        CODE,
        /** The launcher stopped the process, because of another rank. */
        STOPPED,
        /** The launcher stopped the process, after a signal had suspended the process. */
        HALTED,
        /** The process ran on another host, whose launcher has reported no end; detail: the host. */
        ELSEWHERE
    }

    /**
     * The end of one process.
     *
     * @param kind   way in which the process ended
     * @param detail text that the kind defines; empty if the kind has none
     */
    public record ProcessEnd(EndKind kind, String detail) {
        /** Returns a text about how the process ended, for a separate line. */
        String text() {
            return switch (kind) {
                case THREW -> "it threw " + detail;
                case WELL -> "it ended with exit code 0";
                case SIGNAL -> detail;
                case CODE -> "it ended with " + detail;
                case STOPPED -> "its launcher ended it";
                case HALTED -> "it was " + SUSPENDED;
                case ELSEWHERE -> "it ran on " + detail;
            };
        }

        /** Whether the process ended abnormally, and not because the launcher ended it. */
        boolean bad() {
            return kind == EndKind.THREW || kind == EndKind.SIGNAL || kind == EndKind.CODE;
        }

        /** Whether the end explains why other ranks lost this rank, so that guesses of other ranks do not count. */
        boolean isCause() {
            return bad() || kind == EndKind.WELL || kind == EndKind.HALTED;
        }

        /** Whether the end is not the consequence of a failed group. */
        boolean cameFirst() {
            return kind == EndKind.THREW || kind == EndKind.WELL || kind == EndKind.SIGNAL;
        }
    }

    /**
     * {@return the ends of this object and the ends that another launcher observed}
     *
     * @param other ends of the ranks of another node
     */
    public ProcessEnds and(ProcessEnds other) {
        Map<Integer, ProcessEnd> ends = new HashMap<>(byRank);
        Set<Integer> all = new HashSet<>(stopped);
        Map<Integer, Long> since = new HashMap<>(stoppedWallNanos);
        ends.putAll(other.byRank);
        all.addAll(other.stopped);
        since.putAll(other.stoppedWallNanos);
        SortedSet<String> nodes = new TreeSet<>(lost);
        nodes.addAll(other.lost);
        return new ProcessEnds(ends, all, since, nodes);
    }

    /**
     * Returns a failure without those culprits that their launchers had ended before a rank detected the failure.
     *
     * @param failure   failure, as a rank recorded it
     * @param rank      rank that recorded the failure
     * @param wallNanos time at which {@code rank} detected the failure
     * @return the failure; null if the failure has only culprits that launchers had ended
     */
    Failure withoutConsequences(Failure failure, int rank, long wallNanos) {
        if (wallNanos <= stoppedWallNanos.getOrDefault(rank, Long.MAX_VALUE)) {
            return failure;
        }
        Set<Integer> culprits = new TreeSet<>(failure.culprits());
        if (!culprits.removeAll(stopped)) {
            return failure;
        }
        return culprits.isEmpty()
                ? null
                : new Failure(
                        failure.code(),
                        failure.origin(),
                        failure.sequence(),
                        culprits,
                        failure.text(),
                        null,
                        failure.known());
    }
}
