package ferro.control.failure;

import ferro.control.wire.Fields;

/**
 * A receive has matched a message of the receiver of this control message. The go-ahead on the lane of messages may wait
 * there behind messages that nobody receives.
 *
 * @param announcement number of the announcement of the message
 */
public record GoAhead(long announcement) implements ControlMessage {
    static final byte KIND = 12;

    @Override
    public GoAhead through(Fields fields) {
        fields.kind(KIND);
        return new GoAhead(fields.int64("announcement", announcement));
    }
}
