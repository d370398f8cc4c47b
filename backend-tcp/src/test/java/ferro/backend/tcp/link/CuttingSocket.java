package ferro.backend.tcp.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;

/** A socket of which the test decides whether it takes arrays, and that may move only part of what is asked. */
final class CuttingSocket extends LayeredSocket {
    private final boolean takesLent;
    private final Random cuts;
    private long lentBytes;
    private int shortArrayWrites;

    /** Wraps a socket; cuts nothing where {@code cuts} is null. */
    CuttingSocket(DataSocket inner, boolean takesLent, Random cuts) {
        super(inner);
        this.takesLent = takesLent;
        this.cuts = cuts;
    }

    /** Returns the bytes that went between arrays and the kernel. */
    long lentBytes() {
        return lentBytes;
    }

    /** Returns how often the kernel took only a part of what was offered from an array, or nothing. */
    int shortArrayWrites() {
        return shortArrayWrites;
    }

    @Override
    public boolean takesLent() {
        return takesLent;
    }

    @Override
    public int writeLent(Object array, long from, int bytes) throws IOException {
        int offered = cut(bytes);
        int taken = inner.writeLent(array, from, offered);
        lentBytes += taken;
        shortArrayWrites += taken < offered ? 1 : 0;
        return taken;
    }

    @Override
    public int readLent(Object array, long from, int bytes) throws IOException {
        int came = inner.readLent(array, from, cut(bytes));
        lentBytes += Math.max(0, came);
        return came;
    }

    @Override
    public int write(ByteBuffer bytes, int from, int to) throws IOException {
        return inner.write(bytes, from, from + cut(to - from));
    }

    @Override
    public int read(ByteBuffer bytes, int from, int to) throws IOException {
        return inner.read(bytes, from, from + cut(to - from));
    }

    /** Returns all bytes, or at random fewer: a few, so that elements are cut, or any number. */
    private int cut(int bytes) {
        if (cuts == null || bytes < 2 || cuts.nextBoolean()) {
            return bytes;
        }
        return 1 + cuts.nextInt(cuts.nextInt(4) == 0 ? Math.min(bytes, 20) : bytes);
    }
}
