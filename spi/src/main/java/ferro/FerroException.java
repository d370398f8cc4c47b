package ferro;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * A failure of communication. The failure ends the group: every rank of the group fails with the same first cause.
 * Three kinds of failure do not end a group: a failure of joining, a failure of the store, and the failure of a receive
 * that no send has matched.
 */
public class FerroException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kind of failure. A caller decides by this kind how to react. */
    private final Code code;
    /**
     * Location of the failure and the ranks to blame. The location contains only strings and numbers, so that it can be
     * serialised and sent.
     */
    private final Where where;

    /** The kinds of failure, by which a caller decides how to react. All modules use the same kinds. */
    public enum Code {
        /** The deadline passed. */
        TIMED_OUT,
        /** A rank died or closed the group. */
        PEER_LOST,
        /** A rank has become silent or cannot be reached; the state of its process is unknown. */
        PARTITION,
        /** This rank or another rank aborted the group. */
        ABORTED,
        /**
         * A thread of this rank was interrupted while it waited for a collective, a send or a receive. After the
         * interrupt, the other ranks fail with ABORTED.
         */
        INTERRUPTED,
        /** Ranks made different calls although all ranks must make the same call. */
        MISMATCH,
        /** A peer sent invalid frames. */
        PROTOCOL,
        /** Joining failed. */
        RENDEZVOUS,
        /** Authentication of the ranks failed. */
        UNAUTHENTICATED,
        /** A native library reported an error. */
        NATIVE,
        /** Memory, file descriptors, threads or shared memory ran out. */
        RESOURCE;

        /**
         * Codes in the order of gravity. A code comes before the codes of failures that it causes. The enum constants
         * have another order, because control messages contain their ordinals.
         */
        private static final List<Code> GRAVEST_FIRST = List.of(
                PEER_LOST,
                NATIVE,
                RESOURCE,
                PROTOCOL,
                MISMATCH,
                PARTITION,
                TIMED_OUT,
                INTERRUPTED,
                ABORTED,
                RENDEZVOUS,
                UNAUTHENTICATED);

        /**
         * Returns the gravity of a failure of this kind. If a group has several failures, the ranks agree on the
         * gravest failure that a rank has reported. A kind of failure is graver than the kinds of failure that it
         * causes.
         *
         * @return position in the order of gravity, 0 for the gravest; different for each code
         */
        public int gravity() {
            return GRAVEST_FIRST.indexOf(this);
        }
    }

    /**
     * The location of a failure: group, rank and operation, with the ranks to blame. A location is immutable. To
     * create a location, call {@link #of}, and then add the known facts about the operation.
     */
    public static final class Where implements java.io.Serializable {
        private static final long serialVersionUID = 1L;

        /** Name of the group. */
        private final String group;
        /** Rank that reports the failure. */
        private final int rank;
        /** Ranks to blame, and how the processes of ranks have ended. */
        private final KnownRanks ranks;
        /** The operation that failed, and the progress of the operation. */
        private final CallPosition call;
        /** Durations of the call that failed and of the pauses of the process during the call. */
        private final CallDurations times;

        /**
         * The ranks to blame and the ends of ranks. The culprits and the ends are in ascending order and never change.
         *
         * @param culprits ranks to blame
         * @param ends     how the processes of ranks ended, by rank
         */
        private record KnownRanks(TreeSet<Integer> culprits, TreeMap<Integer, RankEnd> ends)
                implements java.io.Serializable {}

        private record CallPosition(String operation, long sequence, int step, long bytesMoved)
                implements java.io.Serializable {}

        private record CallDurations(Duration elapsed, Duration paused) implements java.io.Serializable {}

        private Where(String group, int rank, KnownRanks ranks, CallPosition call, CallDurations times) {
            this.group = group;
            this.rank = rank;
            this.ranks = ranks;
            this.call = call;
            this.times = times;
        }

        /**
         * Creates a location without an operation. Failures of joining, of the store and of closing have no operation.
         *
         * @param group name of the group
         * @param rank  this rank
         * @return location without operation, sequence and step
         */
        public static Where of(String group, int rank) {
            Objects.requireNonNull(group, "group");
            return new Where(
                    group,
                    rank,
                    new KnownRanks(new TreeSet<>(), new TreeMap<>()),
                    new CallPosition("", -1, -1, 0),
                    new CallDurations(Duration.ZERO, Duration.ZERO));
        }

        /**
         * Returns a copy of this location with other ranks to blame.
         *
         * @param ranks ranks to blame; empty if unknown
         * @return location
         */
        public Where blaming(Collection<Integer> ranks) {
            TreeSet<Integer> culprits = new TreeSet<>(Objects.requireNonNull(ranks, "ranks"));
            return new Where(group, rank, new KnownRanks(culprits, this.ranks.ends), call, times);
        }

        /**
         * Returns a copy of this location with the ends of dead ranks.
         *
         * @param ends how the processes of ranks ended, by rank; empty if unknown
         * @return location
         */
        public Where ended(Map<Integer, RankEnd> ends) {
            TreeMap<Integer, RankEnd> known = new TreeMap<>(Objects.requireNonNull(ends, "ends"));
            return new Where(group, rank, new KnownRanks(ranks.culprits, known), call, times);
        }

        /**
         * Returns a copy of this location with other ranks to blame.
         *
         * @param ranks ranks to blame; none if unknown
         * @return location
         */
        public Where blaming(int... ranks) {
            return blaming(
                    IntStream.of(Objects.requireNonNull(ranks, "ranks")).boxed().toList());
        }

        /**
         * Returns a copy of this location with the operation that failed.
         *
         * @param operation operation that failed, empty if unknown
         * @param sequence  number of the operation, -1 if unknown
         * @return location
         */
        public Where during(String operation, long sequence) {
            Objects.requireNonNull(operation, "operation");
            return new Where(
                    group, rank, ranks, new CallPosition(operation, sequence, call.step, call.bytesMoved), times);
        }

        /**
         * Returns a copy of this location with the progress of the operation.
         *
         * @param step       step of the plan, -1 if none
         * @param bytesMoved bytes moved by the operation on this rank
         * @return location
         */
        public Where at(int step, long bytesMoved) {
            return new Where(
                    group, rank, ranks, new CallPosition(call.operation, call.sequence, step, bytesMoved), times);
        }

        /**
         * Returns a copy of this location with the times of the operation.
         *
         * @param elapsed time since the submit
         * @param paused  time during which this process was paused since the submit
         * @return location
         */
        public Where after(Duration elapsed, Duration paused) {
            Objects.requireNonNull(elapsed, "elapsed");
            Objects.requireNonNull(paused, "paused");
            return new Where(group, rank, ranks, call, new CallDurations(elapsed, paused));
        }

        /** {@return the name of the group} */
        public String group() {
            return group;
        }

        /** {@return this rank} */
        public int rank() {
            return rank;
        }

        /** {@return the ranks to blame, ascending and immutable; empty if unknown} */
        public Set<Integer> culprits() {
            return Collections.unmodifiableSet(ranks.culprits);
        }

        /**
         * Returns how the processes of dead ranks ended, as far as their launchers have reported the ends.
         * {@code ferro run} reports ends; the launchers of clusters do not. The report of an end arrives after the
         * failure, and an exception does not wait for reports. {@code ProcessGroup.failure()} also returns ends that
         * are reported later.
         *
         * @return ends by rank of the group, ascending and immutable; empty if no end is known
         */
        public Map<Integer, RankEnd> ends() {
            return Collections.unmodifiableMap(ranks.ends);
        }

        /** {@return the operation that failed, empty if unknown} */
        public String operation() {
            return call.operation;
        }

        /** {@return the number of the operation, -1 if unknown} */
        public long sequence() {
            return call.sequence;
        }

        /** {@return the step of the plan, -1 if none} */
        public int step() {
            return call.step;
        }

        /** {@return how many bytes the operation moved on this rank} */
        public long bytesMoved() {
            return call.bytesMoved;
        }

        /** {@return the time from the submit to the failure} */
        public Duration elapsed() {
            return times.elapsed;
        }

        /** {@return how long this process was paused between the submit and the failure} */
        public Duration paused() {
            return times.paused;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Where that && values().equals(that.values());
        }

        @Override
        public int hashCode() {
            return values().hashCode();
        }

        @Override
        public String toString() {
            return "Where[group=" + group + ", rank=" + rank + ", culprits=" + ranks.culprits + ", operation="
                    + call.operation + ", sequence=" + call.sequence + ", step=" + call.step + ", bytesMoved="
                    + call.bytesMoved + ", elapsed=" + times.elapsed + ", paused=" + times.paused
                    + (ranks.ends.isEmpty() ? "" : ", ends=" + ranks.ends) + "]";
        }

        private List<Object> values() {
            return List.of(group, rank, ranks, call, times);
        }
    }

    /**
     * Creates a failure.
     *
     * @param code    kind
     * @param where   location
     * @param message what failed, where, what was expected and found, and the remedy
     * @param cause   first cause or null
     */
    public FerroException(Code code, Where where, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
        this.where = where;
    }

    /**
     * Creates a failure without a cause.
     *
     * @param code    kind
     * @param where   location
     * @param message what failed, where, what was expected and found, and the remedy
     */
    public FerroException(Code code, Where where, String message) {
        this(code, where, message, null);
    }

    /** {@return the kind of failure} */
    public Code code() {
        return code;
    }

    /** {@return the location of the failure} */
    public Where where() {
        return where;
    }

    /**
     * {@return class name, kind and message, such as {@code ferro.FerroException: TIMED_OUT: ...}} A printed stack
     * trace begins with this text.
     */
    @Override
    public String toString() {
        return getClass().getName() + ": " + code + ": " + getMessage();
    }
}
