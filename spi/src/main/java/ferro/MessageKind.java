package ferro;

/** The kinds of {@link Message}. All other code reads the facts about a kind from this enum. */
public enum MessageKind {
    /** Sends a tensor. */
    SEND("send"),
    /** Sends a tensor of any length, and ends only after a receive has matched the message. */
    SEND_UNTIL_MATCHED("sendUntilMatched"),
    /** Receives a message that is exactly as long as the tensor. */
    RECEIVE("recv"),
    /** Receives a message that may be shorter than the tensor. */
    RECEIVE_UP_TO("recvUpTo"),
    /** Waits for a message that a receive would take, without taking the message. */
    PROBE("probe"),
    /** Takes a message without receiving the elements of the message. */
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

    /**
     * Returns the label. {@link #RECEIVE_MATCHED} and {@link #RECEIVE} have the same label, so the text of {@link
     * #RECEIVE_MATCHED} adds "of a matched message".
     */
    @Override
    public String toString() {
        return this == RECEIVE_MATCHED ? label + " of a matched message" : label;
    }
}
