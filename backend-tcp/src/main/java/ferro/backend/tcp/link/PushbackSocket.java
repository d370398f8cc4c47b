package ferro.backend.tcp.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A new connection that first returns those bytes of the old connection for which no receive was posted. */
final class PushbackSocket extends LayeredSocket {
    private final ByteBuffer kept;

    private PushbackSocket(DataSocket inner, ByteBuffer kept) {
        super(inner);
        this.kept = kept;
    }

    /**
     * Returns a connection that first delivers the kept bytes of the old connection. Without kept bytes, returns {@code
     * inner}.
     */
    static DataSocket of(DataSocket inner, ByteBuffer kept) {
        return kept.hasRemaining() ? new PushbackSocket(inner, kept) : inner;
    }

    /** Returns the inner connection if no kept bytes remain, otherwise the given connection. */
    static DataSocket unlessEmpty(DataSocket wire) {
        return wire instanceof PushbackSocket first && !first.kept.hasRemaining() ? first.inner : wire;
    }

    /** Copies kept bytes into a buffer. Returns the number of copied bytes. */
    static int take(ByteBuffer kept, ByteBuffer into, int from, int to) {
        int count = Math.min(kept.remaining(), to - from);
        into.put(from, kept, kept.position(), count);
        kept.position(kept.position() + count);
        return count;
    }

    @Override
    public int write(ByteBuffer bytes, int from, int to) throws IOException {
        return inner.write(bytes, from, to);
    }

    @Override
    public int read(ByteBuffer bytes, int from, int to) throws IOException {
        return kept.hasRemaining() ? take(kept, bytes, from, to) : inner.read(bytes, from, to);
    }

    @Override
    public boolean readable() {
        return kept.hasRemaining() || inner.readable();
    }
}
