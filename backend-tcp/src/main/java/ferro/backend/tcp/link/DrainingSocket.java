package ferro.backend.tcp.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A connection to which this side writes nothing more, because another one takes its place, and of which it reads all that the
 * other side has sent. Bytes that no call has asked for yet are kept, so that the end can be seen behind them.
 *
 * <p>As many are kept as fit, and then the other side waits; but where it has taken up another connection already, nothing comes
 * by this one but what the kernels hold, and all of that is kept.
 */
final class DrainingSocket extends WrappedSocket {
    /** Most bytes that are kept for calls to come; then the other side waits, as it does for a call that has not been made. */
    private static final int MOST_KEPT = 4 << 20;

    private static final int READ_BYTES = 256 << 10;

    private ByteBuffer kept = ByteBuffer.allocateDirect(READ_BYTES).limit(0);
    private boolean ended;

    private DrainingSocket(DataSocket inner) {
        super(inner);
    }

    /**
     * Tells the other side that nothing more comes, behind all that the kernel has taken.
     *
     * @throws IOException if the connection has ended
     */
    static DrainingSocket of(DataSocket wire) throws IOException {
        wire.endOutput();
        return new DrainingSocket(wire);
    }

    /** Takes over a connection that has ended already, or whose other side has taken up another one. */
    static DrainingSocket ended(DataSocket wire) {
        return new DrainingSocket(wire);
    }

    /**
     * Reads ahead what is there now.
     *
     * @param left whether the other side has taken up another connection
     * @return whether all that it has sent by this one was read
     */
    boolean readAhead(boolean left) throws IOException {
        while (wantsMore(left)) {
            makeRoom();
            int end = kept.limit();
            int came = 0;
            try {
                came = inner.read(kept.limit(end + READ_BYTES), end, end + READ_BYTES);
            } finally {
                // also where the connection was reset: nothing but what came is kept
                kept.limit(end + Math.max(0, came));
            }
            ended = came < 0;
            if (came <= 0) {
                break;
            }
        }
        return ended;
    }

    /** Makes room for one more read behind the bytes that are kept. */
    private void makeRoom() {
        if (kept.position() >= READ_BYTES || !kept.hasRemaining()) {
            kept.compact().flip();
        }
        if (kept.capacity() - kept.limit() < READ_BYTES) {
            ByteBuffer larger = ByteBuffer.allocateDirect(kept.remaining() + 2 * READ_BYTES);
            kept = larger.put(kept).flip();
        }
    }

    /** Returns whether there is room for more of what the other side has sent. */
    boolean wantsMore(boolean left) {
        return !ended && (left || kept.remaining() < MOST_KEPT);
    }

    /** Returns whether {@link #readAhead} may find something. */
    boolean hasMore(boolean left) {
        return wantsMore(left) && inner.readable();
    }

    /** Returns the bytes that were read ahead and that no call has asked for. */
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
