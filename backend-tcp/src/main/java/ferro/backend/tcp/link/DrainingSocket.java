package ferro.backend.tcp.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A connection that is being replaced. No more bytes are written to this connection, and all bytes that arrive are read
 * to the end. Bytes for which no receive is posted yet are kept in memory, because the end of the connection can only
 * be detected after all its bytes were read.
 *
 * <p>At most {@link #MOST_KEPT} bytes are kept; at this limit the peer waits. The limit does not apply if the peer
 * already uses the new connection, because the old connection then delivers only bytes that are in the kernels'
 * buffers.
 */
final class DrainingSocket extends LayeredSocket {
    /** Maximum bytes kept for later calls. At this limit the peer waits, as if this rank had not posted a receive. */
    private static final int MOST_KEPT = 4 << 20;

    private static final int READ_BYTES = 256 << 10;

    private ByteBuffer kept = ByteBuffer.allocateDirect(READ_BYTES).limit(0);
    private boolean ended;

    private DrainingSocket(DataSocket inner) {
        super(inner);
    }

    /**
     * Ends the output of a connection, after all bytes that the kernel has accepted.
     *
     * @throws IOException if the connection has ended
     */
    static DrainingSocket of(DataSocket wire) throws IOException {
        wire.endOutput();
        return new DrainingSocket(wire);
    }

    /** Takes over a connection that has already ended, or whose peer already uses a new connection. */
    static DrainingSocket ended(DataSocket wire) {
        return new DrainingSocket(wire);
    }

    /**
     * Reads ahead all bytes that have arrived.
     *
     * @param left whether the peer already uses a new connection
     * @return whether all bytes that the peer has sent on this connection were read
     */
    boolean readAhead(boolean left) throws IOException {
        while (wantsMore(left)) {
            makeRoom();
            int end = kept.limit();
            int came = 0;
            try {
                came = inner.read(kept.limit(end + READ_BYTES), end, end + READ_BYTES);
            } finally {
                // runs also if the connection was reset, so that only the bytes that were read are kept
                kept.limit(end + Math.max(0, came));
            }
            ended = came < 0;
            if (came <= 0) {
                break;
            }
        }
        return ended;
    }

    /** Frees space for one more read after the kept bytes. */
    private void makeRoom() {
        if (kept.position() >= READ_BYTES || !kept.hasRemaining()) {
            kept.compact().flip();
        }
        if (kept.capacity() - kept.limit() < READ_BYTES) {
            ByteBuffer larger = ByteBuffer.allocateDirect(kept.remaining() + 2 * READ_BYTES);
            kept = larger.put(kept).flip();
        }
    }

    /** Returns whether more bytes of the peer may be kept. */
    boolean wantsMore(boolean left) {
        return !ended && (left || kept.remaining() < MOST_KEPT);
    }

    /** Returns whether {@link #readAhead} may find bytes. */
    boolean hasMore(boolean left) {
        return wantsMore(left) && inner.readable();
    }

    /** Returns the bytes that were read ahead and for which no receive is posted yet. */
    ByteBuffer kept() {
        return kept;
    }

    @Override
    public int write(ByteBuffer bytes, int from, int to) {
        return 0;
    }

    @Override
    public int read(ByteBuffer bytes, int from, int to) throws IOException {
        return kept.hasRemaining()
                ? PushbackSocket.take(kept, bytes, from, to)
                : ended ? -1 : inner.read(bytes, from, to);
    }

    @Override
    public boolean readable() {
        return kept.hasRemaining() || ended || inner.readable();
    }

    @Override
    public boolean writable() {
        return false;
    }
}
