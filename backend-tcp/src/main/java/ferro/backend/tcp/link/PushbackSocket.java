package ferro.backend.tcp.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A new connection that first returns the kept bytes of the old connection, which no call had asked for. */
final class PushbackSocket extends WrappedSocket {
    private final ByteBuffer kept;

    private PushbackSocket(DataSocket inner, ByteBuffer kept) {
        super(inner);
        this.kept = kept;
    }

    /** Adds the kept bytes to a connection. Without kept bytes, returns the connection itself. */
    static DataSocket of(DataSocket inner, ByteBuffer kept) {
        return kept.hasRemaining() ? new PushbackSocket(inner, kept) : inner;
    }

    /** Returns the inner connection when no kept bytes remain, else the given connection. */
    static DataSocket unlessEmpty(DataSocket wire) {
        return wire instanceof PushbackSocket first && !first.kept.hasRemaining() ? first.inner : wire;
    }

    /** Copies kept bytes; returns how many. */
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
