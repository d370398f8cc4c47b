package ferro.backend.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A connection in the place of one that ended. Each side says first how many bytes of the link it has sent and received; the
 * link goes on only where each has received all that the other has sent. The old connection must have been closed before this is
 * made, so that nothing more can come by it.
 */
final class Successor {
    /** Bytes sent, bytes received: 8 bytes each, little-endian. */
    private static final int BYTES = 2 * Long.BYTES;

    private final Wire wire;
    private final long sent;
    private final long received;
    private final ByteBuffer own = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer others = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private int said;
    private int heard;

    Successor(Wire wire, long sent, long received) {
        this.wire = wire;
        this.sent = sent;
        this.received = received;
        own.putLong(0, sent).putLong(Long.BYTES, received);
    }

    Wire wire() {
        return wire;
    }

    /** Says and hears what goes now; returns whether anything went. */
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

    boolean isOver() {
        return said == BYTES && heard == BYTES;
    }

    /** Returns how many bytes of this side have not reached the other. */
    long lostThere() {
        return sent - others.getLong(Long.BYTES);
    }

    /** Returns how many bytes of the other side have not come. */
    long lostHere() {
        return others.getLong(0) - received;
    }

    boolean ready() {
        return heard < BYTES && wire.readable() || said < BYTES && wire.writable();
    }

    void want() {
        wire.want(heard < BYTES, said < BYTES);
    }
}
