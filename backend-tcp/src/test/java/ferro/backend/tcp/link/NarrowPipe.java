package ferro.backend.tcp.link;

import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A stream in memory that takes and gives as much as there is room for at once, from arrays too. */
final class NarrowPipe implements DataSocket {
    final byte[] bytes;
    private final boolean takesLent;
    int written;
    private int read;
    int room;
    long lent;
    boolean closed;
    boolean endsWhenFull;

    NarrowPipe(int capacity, boolean takesLent) {
        bytes = new byte[capacity];
        this.takesLent = takesLent;
    }

    @Override
    public int write(ByteBuffer from, int at, int to) throws IOException {
        int count = Math.min(room, to - at);
        if (endsWhenFull && count == 0) {
            throw new IOException("no room after " + written + " bytes");
        }
        from.get(at, bytes, written, count);
        written += count;
        room -= count;
        return count;
    }

    @Override
    public int read(ByteBuffer into, int at, int to) {
        int count = Math.min(Math.min(room, to - at), written - read);
        into.put(at, bytes, read, count);
        read += count;
        room -= count;
        return count;
    }

    @Override
    public boolean takesLent() {
        return takesLent;
    }

    @Override
    public int writeLent(Object array, long from, int count) throws IOException {
        lent += count;
        return write(ByteBuffer.wrap((byte[]) array), (int) from, (int) from + count);
    }

    @Override
    public int readLent(Object array, long from, int count) {
        lent += count;
        return read(ByteBuffer.wrap((byte[]) array), (int) from, (int) from + count);
    }

    @Override
    public boolean ended() {
        return closed;
    }

    @Override
    public boolean readable() {
        return read < written;
    }

    @Override
    public boolean writable() {
        return true;
    }

    @Override
    public void want(boolean reading, boolean writing) {
        throw new UnsupportedOperationException("nobody waits for " + written + " bytes in memory");
    }

    @Override
    public void endOutput() {
        throw new UnsupportedOperationException("a pipe has no end");
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public Channel release() {
        throw new UnsupportedOperationException("no channel carries the " + written + " bytes");
    }
}
