package ferro.control.failure;

/**
 * The decisions of the control of a group when something goes wrong, in one place, so that a test can replace one
 * decision by a wrong one and check whether the simulation finds it. The default methods are the shipped behaviour;
 * nothing else in ferro implements this.
 */
public interface FailurePolicy {
    /** The shipped decisions. */
    FailurePolicy SHIPPED = new FailurePolicy() {};

    /** The time to read inboxes before a peer is blamed for the end of its connection: the reason may be in them. */
    long EOF_GRACE_NANOS = 10_000_000L;

    /**
     * Returns whether a neighbour is told of a failure that this rank saw itself.
     *
     * @param failure what the group fails with
     * @param peer    neighbour
     * @return true: all neighbours are told, at once
     */
    default boolean floods(Failure failure, int peer) {
        return true;
    }

    /**
     * Returns whether a failure that another rank sent is forwarded to a neighbour. This makes up for a rank that died while
     * it sent the failure, and takes the failure to ranks that are no neighbours.
     *
     * @param failure what this rank knows now
     * @param peer    neighbour
     * @return true: every change of code or culprits is forwarded
     */
    default boolean forwards(Failure failure, int peer) {
        return true;
    }

    /**
     * Returns the cause that ranks agree on for two causes.
     *
     * @param known what this rank knew
     * @param other cause that arrived
     * @return merged cause, {@code known} itself if nothing changes
     */
    default Failure merged(Failure known, Failure other) {
        return known.merged(other);
    }

    /**
     * Returns which of two ranks that have left all ranks hear of.
     *
     * @param known what this rank knew
     * @param other leaver that it hears of
     * @return the one with the lower last collective, of equal ones the lower rank
     */
    default ControlMessage.Left lowest(ControlMessage.Left known, ControlMessage.Left other) {
        return other.isBefore(known) ? other : known;
    }

    /**
     * {@return whether two calls with the same sequence number are the same}
     *
     * @param mine   fingerprint of this rank's call
     * @param theirs fingerprint of a peer's
     */
    default boolean isSameCall(long mine, long theirs) {
        return mine == theirs;
    }

    /** {@return how many nanoseconds the end of a connection waits for a message that explains it; 0 blames at once} */
    default long eofGraceNanos() {
        return EOF_GRACE_NANOS;
    }

    /**
     * Returns whether the loss of a rank is a cause.
     *
     * @param toldAbort   whether the rank has told of a failure before it went
     * @param saidGoodbye whether the rank has closed its end before it went
     * @return true only if it did neither: otherwise its end is a consequence
     */
    default boolean blamesLoss(boolean toldAbort, boolean saidGoodbye) {
        return !toldAbort && !saidGoodbye;
    }

    /**
     * Returns whether a call whose time is over fails now. It is asked again until it returns true.
     *
     * @param timeoutNanos time that the call had
     * @return true; false as long as a medium without control messages looks for what the peers send
     */
    default boolean mayGiveUp(long timeoutNanos) {
        return true;
    }

    /**
     * {@return whether the data links are dropped before callers hear of a failure; true: ferro must not access the
     * callers' memory afterwards}
     */
    default boolean abandonsLinks() {
        return true;
    }
}
