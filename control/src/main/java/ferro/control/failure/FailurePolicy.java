package ferro.control.failure;

/**
 * The decisions of a group when a call or a rank fails. All decisions are in one interface, so that a test can replace
 * a decision by a wrong one and check whether the simulation finds the fault. The default methods are the shipped
 * behaviour. The engine overrides only {@link #eofGraceNanos} and {@link #mayGiveUp}, for a medium without control
 * messages.
 */
public interface FailurePolicy {
    /** The shipped decisions: all default methods. */
    FailurePolicy SHIPPED = new FailurePolicy() {};

    /**
     * The time between the end of a connection and the blame of its peer. This rank reads its inboxes in this time,
     * because an inbox may contain a message that explains the end.
     */
    long EOF_GRACE_NANOS = 10_000_000L;

    /**
     * Returns whether a neighbour receives a failure that this rank has detected.
     *
     * @param failure cause with which the group fails
     * @param peer    neighbour that may receive the failure
     * @return true: all neighbours receive the failure at once
     */
    default boolean floods(Failure failure, int peer) {
        return true;
    }

    /**
     * Returns whether this rank forwards the failure of another rank to a neighbour. Forwarding replaces the messages
     * of a rank that died while it sent the failure. By forwarding, the failure also reaches ranks that are not
     * neighbours of its origin.
     *
     * @param failure cause that this rank has merged so far
     * @param peer    neighbour that may receive the failure
     * @return true: every change of code or culprits is forwarded
     */
    default boolean forwards(Failure failure, int peer) {
        return true;
    }

    /**
     * Returns the cause on which ranks agree when a second cause arrives.
     *
     * @param known cause that this rank has merged before
     * @param other cause that arrived
     * @return merged cause, {@code known} itself if nothing changes
     */
    default Failure merged(Failure known, Failure other) {
        return known.merged(other);
    }

    /**
     * Returns which of two leaves is announced to all ranks.
     *
     * @param known earliest leave that this rank has received before
     * @param other leave that arrived
     * @return the leave with the lower last collective; if both are equal, the leave of the lower rank
     */
    default ControlMessage.Left lowest(ControlMessage.Left known, ControlMessage.Left other) {
        return other.isBefore(known) ? other : known;
    }

    /**
     * {@return whether two calls with the same sequence number are the same call}
     *
     * @param mine   fingerprint of this rank's call
     * @param theirs fingerprint of a peer's call
     */
    default boolean isSameCall(long mine, long theirs) {
        return mine == theirs;
    }

    /** {@return nanoseconds from the end of a connection to the blame of its peer; 0 for blame at once} */
    default long eofGraceNanos() {
        return EOF_GRACE_NANOS;
    }

    /**
     * Returns whether the loss of a rank is a cause of the failure.
     *
     * @param toldAbort   whether the rank has sent a failure before its end
     * @param saidGoodbye whether the rank has left the group before its end
     * @return true if the rank did neither of the two. Otherwise the end of the rank is a consequence of the failure
     */
    default boolean blamesLoss(boolean toldAbort, boolean saidGoodbye) {
        return !toldAbort && !saidGoodbye;
    }

    /**
     * Returns whether a call whose deadline has passed fails now. This method is called again until it returns true.
     *
     * @param timeoutNanos timeout of the call
     * @return true by default; false on a medium without control messages while the medium still reads data of the
     *     peers
     */
    default boolean mayGiveUp(long timeoutNanos) {
        return true;
    }

    /**
     * {@return whether the data links are dropped before callers receive a failure; if true, ferro must not access the
     * memory of the callers after this}
     */
    default boolean abandonsLinks() {
        return true;
    }
}
