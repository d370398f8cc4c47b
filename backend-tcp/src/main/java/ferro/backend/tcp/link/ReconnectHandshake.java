package ferro.backend.tcp.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A connection that replaces one that ended. Each side first sends how many bytes of the link it has sent and received. The
 * link goes on only if each side has received all that the other has sent. The number of bytes sent goes out at once, so
 * that the other side learns of a loss even if this side has nothing more to do on the link. The number of bytes received
 * goes out only when the old connection has been closed, so that no more can come by it.
 */
final class ReconnectHandshake {
    /** Bytes sent, bytes received: 8 bytes each, little-endian. */
    private static final int BYTES = 2 * Long.BYTES;

    private final DataSocket wire;
    private final long sent;
    private final ByteBuffer own = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer others = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    /** -1 while the old connection may still bring something. */
    private long received = -1;

    private int said;
    private int heard;

    /** Makes the successor for a link that sends nothing more by the old connection. */
    ReconnectHandshake(DataSocket wire, long sent) {
        this.wire = wire;
        this.sent = sent;
        own.putLong(0, sent);
    }

    /** Sends the number of bytes sent. A fresh connection has room for it; a later use of the connection finds its end. */
    void announce() {
        try {
            said += wire.write(own, said, Long.BYTES);
        } catch (IOException ended) {
            // the next use of the connection fails the same way
        }
    }

    /** Records how many bytes have come in all; called when the old connection is closed. */
    void settle(long all) {
        received = all;
        own.putLong(Long.BYTES, all);
    }

    DataSocket wire() {
        return wire;
    }

    /** Sends and receives what goes now, once {@link #settle settled}; returns whether any byte moved. */
    boolean move() throws IOException {
        int before = said + heard;
        if (said < BYTES) {
            said += wire.write(own, said, BYTES);
        }
        if (heard < BYTES) {
            int came = wire.read(others, heard, BYTES);
            if (came < 0) {
                throw new EOFException("the replacement connection ended after " + heard + " of " + BYTES + " bytes");
            }
            heard += came;
        }
        return said + heard > before;
    }

    /** Returns whether it is known that the link goes on, or that it cannot. */
    boolean isOver() {
        return said == BYTES && heard == BYTES || lostHere() > 0;
    }

    /** Returns how many bytes of this side have not reached the other side; -1 if the other side has not sent its number. */
    long lostThere() {
        return heard < BYTES ? -1 : sent - others.getLong(Long.BYTES);
    }

    /** Returns how many bytes of the other side have not come; 0 while the other side has not sent its number. */
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
