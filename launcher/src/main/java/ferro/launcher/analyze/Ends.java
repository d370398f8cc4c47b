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
 * How the processes of ranks ended, as their launchers saw it. A rank that is killed or ends by itself may leave no
 * recording, and a recording does not contain an exit code. Immutable.
 *
 * @param byRank           how a rank ended; a rank whose end was not seen is absent
 * @param stopped          ranks that their launchers ended because of another rank
 * @param stoppedWallNanos by rank, from when on the loss of such ranks is no cause, in nanoseconds since 1970 on the clock of
 *     this rank's host; a rank without a time saw no such loss
 * @param lost             nodes that a launcher has lost, each in one line with the reason
 */
public record Ends(
        Map<Integer, ProcessEnd> byRank,
        Set<Integer> stopped,
        Map<Integer, Long> stoppedWallNanos,
        SortedSet<String> lost) {
    /** What has happened to a process that neither runs nor has ended. */
    public static final String SUSPENDED = "suspended by a signal (SIGSTOP, ctrl-Z, a debugger)";

    /** No end was seen, as when recordings are read on their own. */
    public static final Ends UNSEEN = new Ends(Map.of(), Set.of(), Map.of());

    /**
     * Copies the maps and the sets.
     *
     * @param byRank           how a rank ended
     * @param stopped          ranks that were told to end
     * @param stoppedWallNanos from when on their loss is no cause
     * @param lost             nodes that are lost
     */
    public Ends {
        byRank = Map.copyOf(byRank);
        stopped = Set.copyOf(stopped);
        stoppedWallNanos = Map.copyOf(stoppedWallNanos);
        lost = Collections.unmodifiableSortedSet(new TreeSet<>(lost));
    }

    /**
     * Makes ends of ranks of which no node is lost.
     *
     * @param byRank           how a rank ended
     * @param stopped          ranks that their launchers ended
     * @param stoppedWallNanos from when on their loss is no cause
     */
    public Ends(Map<Integer, ProcessEnd> byRank, Set<Integer> stopped, Map<Integer, Long> stoppedWallNanos) {
        this(byRank, stopped, stoppedWallNanos, Collections.emptySortedSet());
    }

    /**
     * {@return these ends and the loss of nodes}
     *
     * @param nodes each in one line with the reason
     */
    public Ends without(Collection<String> nodes) {
        return new Ends(byRank, stopped, stoppedWallNanos, new TreeSet<>(nodes));
    }

    /** How a process ended. */
    public enum EndKind {
        /** By an exception of its own, not by a reported failure of a group. The detail is the exception. */
        THREW,
        /** By exit code 0. */
        WELL,
        /** By a signal that the launcher did not send. The detail is the signal. */
        SIGNAL,
        /** By another exit code, which may be the consequence of a failed group. The detail is the code. */
        CODE,
        /** By the launcher, because of another rank. */
        STOPPED,
        /** By the launcher, after a signal had suspended the process. */
        HALTED,
        /** On another host, whose launcher has reported nothing. The detail is the place. */
        ELSEWHERE
    }

    /**
     * How one process ended.
     *
     * @param kind   in which way
     * @param detail as the kind says; empty if the kind has none
     */
    public record ProcessEnd(EndKind kind, String detail) {
        /** Returns how the process ended, for a line of its own. */
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

        /** Whether it says why other ranks lost this one, so that the reasons that they guess add nothing. */
        boolean isCause() {
            return bad() || kind == EndKind.WELL || kind == EndKind.HALTED;
        }

        /** Whether the end is not the consequence of a failed group. */
        boolean cameFirst() {
            return kind == EndKind.THREW || kind == EndKind.WELL || kind == EndKind.SIGNAL;
        }
    }

    /**
     * {@return these ends and those that another launcher saw}
     *
     * @param other of another node
     */
    public Ends and(Ends other) {
        Map<Integer, ProcessEnd> ends = new HashMap<>(byRank);
        Set<Integer> all = new HashSet<>(stopped);
        Map<Integer, Long> since = new HashMap<>(stoppedWallNanos);
        ends.putAll(other.byRank);
        all.addAll(other.stopped);
        since.putAll(other.stoppedWallNanos);
        SortedSet<String> nodes = new TreeSet<>(lost);
        nodes.addAll(other.lost);
        return new Ends(ends, all, since, nodes);
    }

    /**
     * Returns a failure without the ranks that their launchers had ended before it was seen.
     *
     * @param failure   as a rank recorded it
     * @param rank      that rank
     * @param wallNanos when that rank saw it
     * @return the failure; null if it blames only such ranks
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
