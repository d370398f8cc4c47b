package ferro.backend.tcp.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The handshake on a connection that replaces an ended connection. Each side sends how many bytes it has sent and
 * received on the link. The link continues only if each side has received all bytes that the other side has sent. A
 * side sends its number of sent bytes at once, so that the peer detects a loss even if this side makes no more calls on
 * the link. A side sends its number of received bytes after it has closed the old connection, because the number may
 * change until then.
 */
final class ReconnectHandshake {
    /** Length of the handshake: bytes sent and bytes received, 8 bytes each, little-endian. */
    private static final int BYTES = 2 * Long.BYTES;

    private final DataSocket wire;
    private final long sent;
    private final ByteBuffer own = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer others = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    /** Number of bytes that this side has received; -1 while the old connection may still deliver bytes. */
    private long received = -1;

    private int said;
    private int heard;

    /** Creates the handshake of a link that sends nothing more on its old connection. */
    ReconnectHandshake(DataSocket wire, long sent) {
        this.wire = wire;
        this.sent = sent;
        own.putLong(0, sent);
    }

    /**
     * Sends the number of sent bytes, which fits into a new connection's buffers. A failure is detected by later calls.
     */
    void announce() {
        try {
            said += wire.write(own, said, Long.BYTES);
        } catch (IOException ended) {
            // the next write to the connection or read from it fails in the same way
        }
    }

    /** Records how many bytes this side has received in total. Called when the old connection is closed. */
    void settle(long all) {
        received = all;
        own.putLong(Long.BYTES, all);
    }

    DataSocket wire() {
        return wire;
    }

    /** Sends and receives the bytes that can move now. Called after {@link #settle}. Returns whether any byte moved. */
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

    /** Returns whether this side can decide that the link continues, or that the link cannot continue. */
    boolean isOver() {
        return said == BYTES && heard == BYTES || lostHere() > 0;
    }

    /** Returns how many bytes of this side the peer has not received; -1 if the peer has not sent a number. */
    long lostThere() {
        return heard < BYTES ? -1 : sent - others.getLong(Long.BYTES);
    }

    /** Returns how many bytes of the peer this side has not received; 0 if the peer has not sent a number. */
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
