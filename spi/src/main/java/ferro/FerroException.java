package ferro;

/**
 * A failure of communication; the whole group has failed with it, on every rank with the same first cause. Exceptions:
 * joining, the store, and a receive that nothing has matched.
 */
public class FerroException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What the caller can act on. */
    private final Code code;
    /** Where it happened and who is to blame; plain strings and ints, so that it can be serialised and sent. */
    private final Where where;

    /** What the caller can act on; one list for the whole project. */
    public enum Code {
        /** The deadline passed. */
        TIMED_OUT,
        /** A rank died or closed. */
        PEER_LOST,
        /** A link is silent; nothing is known about the rank. */
        PARTITION,
        /** Another rank, or this one, aborted. */
        ABORTED,
        /** The waiting thread was interrupted. */
        INTERRUPTED,
        /** Ranks made different calls. */
        MISMATCH,
        /** Frames that make no sense. */
        PROTOCOL,
        /** Joining failed. */
        RENDEZVOUS,
        /** Not one of us. */
        UNAUTHENTICATED,
        /** A native library said no. */
        NATIVE,
        /** Memory, descriptors or shared memory ran out. */
        RESOURCE
    }

    /**
     * Where.
     *
     * @param group     name
     * @param rank      this rank
     * @param culprits  ranks to blame, comma-separated, empty if unknown
     * @param operation what was going on
     * @param sequence  its number
     * @param step      place in the plan, -1 if none
     * @param bytesMoved of this operation on this rank
     * @param elapsedNanos since submit
     * @param pausedNanos  how long this process itself stood still meanwhile
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
         * Makes a place outside any operation: joining, the store, closing.
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
     * @param message what failed, where, expected and found, the way out
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
     * @param message what failed, where, expected and found, the way out
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
     * Returns the kind before the message: what a printed trace begins with.
     *
     * @return for example {@code ferro.FerroException: TIMED_OUT: ...}
     */
    @Override
    public String toString() {
        return getClass().getName() + ": " + code + ": " + getMessage();
    }
}
