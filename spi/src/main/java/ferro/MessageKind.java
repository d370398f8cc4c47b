package ferro;

/** The kinds of {@link Message}. All other code reads the facts about a kind from this enum. */
public enum MessageKind {
    /** Sends a tensor. */
    SEND("send"),
    /** Sends a tensor, and ends only after a receive has matched the message, whatever its length. */
    SEND_UNTIL_MATCHED("sendUntilMatched"),
    /** Receives a message that is exactly as long as the tensor. */
    RECEIVE("recv"),
    /** Receives a message that may be shorter than the tensor. */
    RECEIVE_UP_TO("recvUpTo"),
    /** Waits for a message that a receive would take, and does not take it. */
    PROBE("probe"),
    /** Takes a message without its elements. */
    MATCH("match"),
    /** Receives the elements of a message that a {@link #MATCH} has taken. */
    RECEIVE_MATCHED("recv");

    private final String label;

    MessageKind(String label) {
        this.label = label;
    }

    /** {@return the name of the call and of its method in {@code ProcessGroup} or {@code MatchedMessage}} */
    public String label() {
        return label;
    }

    /** {@return whether this rank sends: true for {@link #SEND} and {@link #SEND_UNTIL_MATCHED}} */
    public boolean isSend() {
        return this == SEND || this == SEND_UNTIL_MATCHED;
    }

    /** {@return whether elements move; false for {@link #PROBE} and {@link #MATCH}, which have no tensor} */
    public boolean isMoving() {
        return this != PROBE && this != MATCH;
    }

    /** Returns the label. A {@link #RECEIVE_MATCHED} has the label of a receive, so "of a matched message" follows it. */
    @Override
    public String toString() {
        return this == RECEIVE_MATCHED ? label + " of a matched message" : label;
    }
}
