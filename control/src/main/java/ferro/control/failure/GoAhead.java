package ferro.control.failure;

import ferro.control.wire.FieldCodec;

/**
 * The notice to the sender of a point-to-point message that a receive has matched the message. The notice is a copy of
 * the go-ahead on the message lane. The go-ahead on that lane may wait behind messages that no rank receives.
 *
 * @param announcement number under which the message was announced
 */
public record GoAhead(long announcement) implements ControlMessage {
    static final byte KIND = 12;

    @Override
    public GoAhead through(FieldCodec fields) {
        fields.kind(KIND);
        return new GoAhead(fields.int64("announcement", announcement));
    }
}
