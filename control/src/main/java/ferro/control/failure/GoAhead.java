package ferro.control.failure;

import ferro.control.wire.FieldWriter;
import ferro.control.wire.Fields;

/**
 * A receive has matched a message of the receiver of this control message. The go-ahead on the lane of messages may wait
 * there behind messages that nobody receives.
 *
 * @param announcement number of the announcement of the message
 */
public record GoAhead(long announcement) implements ControlMessage {
    static final byte KIND = 12;

    GoAhead(Fields in) {
        this(in.int64("announcement"));
    }

    @Override
    public byte kind() {
        return KIND;
    }

    @Override
    public void write(FieldWriter out) {
        out.int64(announcement);
    }

    @Override
    public void accept(int peer, Handler handler) {
        handler.goAhead(peer, this);
    }
}
