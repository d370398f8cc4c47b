package ferro;

import java.util.List;

/**
 * A failure of communication. It fails the whole group, on every rank with the same first cause. Exceptions to this rule:
 * failures of joining, of the store, and of a receive that no send has matched.
 */
public class FerroException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Kind of failure, which the caller can act on. */
    private final Code code;
    /** Where it happened and which ranks are to blame; only strings and numbers, so that it can be serialised and sent. */
    private final Where where;

    /** Kind of failure, which the caller can act on; the whole project uses this one list. */
    public enum Code {
        /** The deadline passed. */
        TIMED_OUT,
        /** A rank died or closed the group. */
        PEER_LOST,
        /** A link is silent; the state of its rank is unknown. */
        PARTITION,
        /** This rank or another one aborted the group. */
        ABORTED,
        /** The thread of this rank that waited in a collective or a message was interrupted; the other ranks get ABORTED. */
        INTERRUPTED,
        /** Ranks made different calls. */
        MISMATCH,
        /** A peer sent invalid frames. */
        PROTOCOL,
        /** Joining failed. */
        RENDEZVOUS,
        /** Authentication of the ranks failed. */
        UNAUTHENTICATED,
        /** A native library reported an error. */
        NATIVE,
        /** Memory, descriptors or shared memory ran out. */
        RESOURCE;

        /** From codes that cause others to codes that others cause. The order above is that of the control messages. */
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
         * Returns how grave a failure of this kind is. Where ranks know of several failures of their group, they agree on
         * the gravest: what causes others comes before what others cause.
         *
         * @return place in the order, 0 for the gravest; no two codes have the same
         */
        public int gravity() {
            return GRAVEST_FIRST.indexOf(this);
        }
    }

    /**
     * Where a failure happened.
     *
     * @param group     name
     * @param rank      this rank
     * @param culprits  ranks to blame, comma-separated, empty if unknown
     * @param operation operation that failed
     * @param sequence  number of the operation
     * @param step      place in the plan, -1 if none
     * @param bytesMoved bytes moved by this operation on this rank
     * @param elapsedNanos time since submit
     * @param pausedNanos  how long this process itself was paused during that time
     */
    public record Where(
            String group,
            int rank,
            String culprits,
            String operation,
            long sequence,
            int step,
            long bytesMoved,
            long elapsedNanos,
            long pausedNanos)
            implements java.io.Serializable {
        /**
         * Makes a place outside any operation, for joining, the store and closing.
         *
         * @param group name
         * @param rank  this rank
         * @return place without operation, sequence and step
         */
        public static Where outside(String group, int rank) {
            return new Where(group, rank, "", "", -1, -1, 0, 0, 0);
        }

        /**
         * Returns the same place with ranks to blame.
         *
         * @param ranks comma-separated
         * @return place
         */
        public Where blaming(String ranks) {
            return new Where(group, rank, ranks, operation, sequence, step, bytesMoved, elapsedNanos, pausedNanos);
        }
    }

    /**
     * Makes a failure.
     *
     * @param code    kind
     * @param where   place
     * @param message what failed, where, what was expected and found, and the remedy
     * @param cause   first cause or null
     */
    public FerroException(Code code, Where where, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
        this.where = where;
    }

    /**
     * Makes a failure without a cause.
     *
     * @param code    kind
     * @param where   place
     * @param message what failed, where, what was expected and found, and the remedy
     */
    public FerroException(Code code, Where where, String message) {
        this(code, where, message, null);
    }

    /**
     * Returns the kind.
     *
     * @return code
     */
    public Code code() {
        return code;
    }

    /**
     * Returns the place.
     *
     * @return where
     */
    public Where where() {
        return where;
    }

    /**
     * Returns the kind and the message; a printed stack trace begins with this text.
     *
     * @return for example {@code ferro.FerroException: TIMED_OUT: ...}
     */
    @Override
    public String toString() {
        return getClass().getName() + ": " + code + ": " + getMessage();
    }
}
