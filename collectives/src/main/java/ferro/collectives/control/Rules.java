package ferro.collectives.control;

/**
 * What the control of a group decides when something goes wrong, in one place, so that a test can replace one decision by a
 * wrong one and see whether the simulation finds it. The default methods are what is shipped; nothing else in ferro
 * implements this.
 */
public interface Rules {
    /** What is shipped. */
    Rules SHIPPED = new Rules() {};

    /** So long the inboxes are read before the end of a connection is blamed on its peer: it may have told why. */
    long EOF_GRACE_NANOS = 10_000_000L;

    /**
     * Returns whether a failure of this rank's own is told to a rank.
     *
     * @param failure what the group fails with
     * @param peer    rank
     * @return true: all ranks are told, at once
     */
    default boolean floods(Failure failure, int peer) {
        return true;
    }

    /**
     * Returns whether a failure that others told is told on, so that a rank that died while it told is made up for.
     *
     * @param failure what this rank knows now
     * @param peer    rank
     * @return true: whatever changes is told on
     */
    default boolean forwards(Failure failure, int peer) {
        return true;
    }

    /**
     * Returns what is agreed on of two causes.
     *
     * @param known what this rank knew
     * @param other what came
     * @return merged cause, {@code known} itself if nothing changes
     */
    default Failure merged(Failure known, Failure other) {
        return known.merged(other);
    }

    /**
     * Returns whether two calls at one place of the order are the same.
     *
     * @param mine   fingerprint of this rank's call
     * @param theirs fingerprint of a peer's
     * @return whether they are equal
     */
    default boolean isSameCall(long mine, long theirs) {
        return mine == theirs;
    }

    /**
     * Returns how long the end of a connection waits for a message that explains it.
     *
     * @return nanoseconds; 0 blames at once
     */
    default long eofGraceNanos() {
        return EOF_GRACE_NANOS;
    }

    /**
     * Returns whether the loss of a rank is a cause.
     *
     * @param toldAbort   the rank has told of a failure before it went
     * @param saidGoodbye the rank has closed its end before it went
     * @return true only if it did neither: else its going is a consequence
     */
    default boolean blamesLoss(boolean toldAbort, boolean saidGoodbye) {
        return !toldAbort && !saidGoodbye;
    }

    /**
     * Returns whether the data links are dropped before callers hear of a failure.
     *
     * @return true: nothing of ours may touch their memory afterwards
     */
    default boolean abandonsLinks() {
        return true;
    }
}
