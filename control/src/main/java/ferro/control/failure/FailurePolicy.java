package ferro.control.failure;

/**
 * The decisions of a group when a call or a rank fails. All decisions are in one interface, so that a test can replace
 * a decision by a wrong one and check whether the simulation finds the fault. The default methods are the shipped
 * behaviour. The engine overrides only {@link #eofGraceNanos} and {@link #mayGiveUp}, for a medium without control
 * messages.
 */
public interface FailurePolicy {
    /** The shipped policy, which consists of the default methods. */
    FailurePolicy SHIPPED = new FailurePolicy() {};

    /**
     * The time between the end of a connection and the blame of its peer. During this time, the rank reads its inboxes,
     * because an inbox may contain a message that explains the end of the connection.
     */
    long EOF_GRACE_NANOS = 10_000_000L;

    /**
     * Returns whether a neighbour receives a failure that this rank has detected.
     *
     * @param failure cause with which the group fails
     * @param peer    neighbour that may receive the failure
     * @return true by default: all neighbours receive the failure at once
     */
    default boolean floods(Failure failure, int peer) {
        return true;
    }

    /**
     * Returns whether this rank forwards the failure of another rank to a neighbour. If a rank died while it sent a
     * failure, the forwarded copies replace the messages that the rank did not send. By forwarding, a failure also
     * reaches ranks that are not neighbours of its origin.
     *
     * @param failure cause that this rank has merged so far
     * @param peer    neighbour that may receive the failure
     * @return true by default: every change of code or culprits is forwarded
     */
    default boolean forwards(Failure failure, int peer) {
        return true;
    }

    /**
     * Returns the cause on which ranks agree when a second cause arrives.
     *
     * @param known cause that this rank has merged from earlier causes
     * @param other cause that arrived
     * @return merged cause, or {@code known} itself if {@code other} changes nothing
     */
    default Failure merged(Failure known, Failure other) {
        return known.merged(other);
    }

    /**
     * Returns which of two leaves is announced to all ranks.
     *
     * @param known leave with the lowest last collective of all leaves that this rank has received before
     * @param other leave that arrived
     * @return the leave with the lower last collective; if the last collectives are equal, the leave of the lower rank
     */
    default ControlMessage.LeaveReport lowest(ControlMessage.LeaveReport known, ControlMessage.LeaveReport other) {
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

    /** {@return nanoseconds from the end of a connection until its peer is blamed; 0 if the peer is blamed at once} */
    default long eofGraceNanos() {
        return EOF_GRACE_NANOS;
    }

    /**
     * Returns whether the loss of a rank is a cause of the failure.
     *
     * @param toldAbort   whether the rank has sent a failure before its end
     * @param saidGoodbye whether the rank has left the group before its end
     * @return true if the rank has neither sent a failure nor left. After a sent failure or a leave, the end of the
     *     rank is a consequence of the failure
     */
    default boolean blamesLoss(boolean toldAbort, boolean saidGoodbye) {
        return !toldAbort && !saidGoodbye;
    }

    /**
     * Returns whether a call whose deadline has passed fails now. The engine calls this method again until the method
     * returns true.
     *
     * @param timeoutNanos timeout of the call
     * @return true by default; false on a medium without control messages while the medium still reads data of the
     *     peers
     */
    default boolean mayGiveUp(long timeoutNanos) {
        return true;
    }

    /**
     * {@return whether the data links are dropped before callers receive a failure. If true, ferro must not access the
     * memory of the callers after the links are dropped}
     */
    default boolean abandonsLinks() {
        return true;
    }
}
