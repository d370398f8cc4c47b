package ferro.backend.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A connection in the place of one that ended. Each side says first how many bytes of the link it has sent and received; the
 * link goes on only where each has received all that the other has sent. What was sent is said at once, so that the other side
 * hears of a loss even where this one has nothing more to do on the link; what was received only when the old connection has
 * been closed, so that nothing more can come by it.
 */
final class Successor {
    /** Bytes sent, bytes received: 8 bytes each, little-endian. */
    private static final int BYTES = 2 * Long.BYTES;

    private final Wire wire;
    private final long sent;
    private final ByteBuffer own = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer others = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    /** -1 while the old connection may still bring something. */
    private long received = -1;

    private int said;
    private int heard;

    /** Makes one of a link that sends nothing more by the old connection. */
    Successor(Wire wire, long sent) {
        this.wire = wire;
        this.sent = sent;
        own.putLong(0, sent);
    }

    /** Says what was sent; a fresh connection has room for it, and its end is found when it is used. */
    void announce() {
        try {
            said += wire.write(own, said, Long.BYTES);
        } catch (IOException ended) {
            // as it is found then
        }
    }

    /** The old connection is closed. */
    void settle(long all) {
        received = all;
        own.putLong(Long.BYTES, all);
    }

    Wire wire() {
        return wire;
    }

    /** Says and hears what goes now, once {@link #settle settled}; returns whether anything went. */
    boolean move() throws IOException {
        int before = said + heard;
        if (said < BYTES) {
            said += wire.write(own, said, BYTES);
        }
        if (heard < BYTES) {
            int came = wire.read(others, heard, BYTES);
            if (came < 0) {
                throw new EOFException("the connection in its place ended at once");
            }
            heard += came;
        }
        return said + heard > before;
    }

    /** Whether it is known that the link goes on, or that it cannot. */
    boolean isOver() {
        return said == BYTES && heard == BYTES || lostHere() > 0;
    }

    /** Returns how many bytes of this side have not reached the other; -1 if it has not said so. */
    long lostThere() {
        return heard < BYTES ? -1 : sent - others.getLong(Long.BYTES);
    }

    /** Returns how many bytes of the other side have not come; 0 while it has not said so. */
    long lostHere() {
        return heard < Long.BYTES ? 0 : others.getLong(0) - received;
    }

    boolean ready() {
        return heard < BYTES && wire.readable() || said < BYTES && wire.writable();
    }

    void want() {
        wire.want(heard < BYTES, said < BYTES);
    }
}
