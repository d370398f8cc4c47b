package ferro.backend.tcp;

import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A data connection whose bytes travel in records with checksums ({@code ferro.tcp.checksum}): nothing is handed on before
 * its checksum was found right, and nothing is after one that was not.
 *
 * <p>A record is a head and at most {@link #MOST_BYTES}; the head has a checksum of its own, over a number that counts the
 * records as well, so that a wrong length waits for no bytes that never come and no record can be lost or come twice.
 */
final class CheckedWire implements Wire {
    /** Bytes of one record; fits in the second-level cache beside what it is copied from. */
    static final int MOST_BYTES = 64 << 10;
    /** Length, checksum of the bytes, checksum of number, length and checksum: 4 bytes each, little-endian. */
    static final int HEAD_BYTES = 12;

    /** In front of each head in memory, not on the wire, stands the number of its record. */
    private static final int HEAD = Long.BYTES;

    private static final int BODY = HEAD + HEAD_BYTES;
    private static final int LENGTH = HEAD;
    private static final int SUM = HEAD + 4;
    private static final int HEAD_SUM = HEAD + 8;

    private final Wire inner;
    private final ByteBuffer out = record();
    private final ByteBuffer in = record();
    private final CRC32C sum = new CRC32C();
    private long written;
    /** What of {@link #out} the kernel has not taken yet. */
    private int outAt = BODY;

    private int outEnd = BODY;
    private long checked;
    /** How far {@link #in} is filled from its head on, and what of its body has been handed on. */
    private int inEnd = HEAD;

    private int inAt;
    private boolean whole;
    private IOException broken;

    CheckedWire(Wire inner) {
        this.inner = inner;
    }

    /**
     * Writes in records. Bytes count as taken with the last of their record: what this side still holds is offered again,
     * and then found here.
     */
    @Override
    public int write(ByteBuffer bytes, int from, int to) throws IOException {
        refuseIfBroken();
        int at = from;
        while (true) {
            if (outAt == outEnd) {
                if (at == to) {
                    return to - from;
                }
                pack(bytes, at, Math.min(to - at, MOST_BYTES));
            }
            int taken = inner.write(out, outAt, outEnd);
            outAt += taken;
            if (outAt == outEnd) {
                at += outEnd - BODY;
            } else if (taken == 0) {
                return at - from;
            }
        }
    }

    @Override
    public int read(ByteBuffer bytes, int from, int to) throws IOException {
        int at = from;
        while (at < to) {
            if (!whole) {
                int came = fill(at > from);
                if (came <= 0) {
                    return at > from ? at - from : came;
                }
            }
            int count = Math.min(inEnd - inAt, to - at);
            bytes.put(at, in, inAt, count);
            at += count;
            inAt += count;
            if (inAt == inEnd) {
                whole = false;
                inEnd = HEAD;
            }
        }
        return at - from;
    }

    @Override
    public boolean ended() throws IOException {
        return inner.ended();
    }

    @Override
    public boolean readable() {
        return whole || broken != null || inner.readable();
    }

    @Override
    public boolean writable() {
        return inner.writable();
    }

    @Override
    public void want(boolean reading, boolean writing) {
        inner.want(reading, writing);
    }

    @Override
    public void close() {
        inner.close();
    }

    @Override
    public Channel release() {
        return inner.release();
    }

    private void pack(ByteBuffer bytes, int from, int count) {
        out.put(BODY, bytes, from, count);
        out.putLong(0, written++);
        out.putInt(LENGTH, count);
        out.putInt(SUM, sumOf(out, BODY, BODY + count));
        out.putInt(HEAD_SUM, sumOf(out, 0, HEAD_SUM));
        outAt = HEAD;
        outEnd = BODY + count;
    }

    /**
     * Reads until a record is whole and right.
     *
     * @param later whether bytes wait to be handed on: a failure is then told by the next read
     * @return 1, 0 if there is nothing more now, -1 at the end of the stream
     */
    private int fill(boolean later) throws IOException {
        try {
            refuseIfBroken();
            return fill();
        } catch (IOException failure) {
            broken = failure;
            if (later) {
                return 0;
            }
            throw failure;
        }
    }

    private int fill() throws IOException {
        while (!whole) {
            int wanted = inEnd < BODY ? BODY : BODY + in.getInt(LENGTH);
            int came = inner.read(in, inEnd, wanted);
            if (came <= 0) {
                return came;
            }
            inEnd += came;
            if (inEnd == BODY) {
                checkHead();
            } else if (inEnd > BODY && inEnd == BODY + in.getInt(LENGTH)) {
                check("bytes", in.getInt(SUM), sumOf(in, BODY, inEnd));
                checked++;
                inAt = BODY;
                whole = true;
            }
        }
        return 1;
    }

    private void checkHead() throws IOException {
        in.putLong(0, checked);
        check("head", in.getInt(HEAD_SUM), sumOf(in, 0, HEAD_SUM));
        int length = in.getInt(LENGTH);
        if (length < 1 || length > MOST_BYTES) {
            throw corrupted("announces " + length + " bytes, need 1 to " + MOST_BYTES);
        }
    }

    private void check(String part, int said, int found) throws IOException {
        if (said != found) {
            throw corrupted("has a " + part + " checksum of " + Integer.toHexString(found) + ", need "
                    + Integer.toHexString(said));
        }
    }

    /** Nothing more is read or written: where the next record begins is unknown. */
    private Corrupted corrupted(String how) {
        inner.close();
        return new Corrupted("record " + checked + " " + how);
    }

    private void refuseIfBroken() throws IOException {
        if (broken != null) {
            throw broken;
        }
    }

    private int sumOf(ByteBuffer bytes, int from, int to) {
        sum.reset();
        sum.update(bytes.limit(to).position(from));
        bytes.clear();
        return (int) sum.getValue();
    }

    private static ByteBuffer record() {
        return ByteBuffer.allocateDirect(BODY + MOST_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Bytes came that were not sent. */
    static final class Corrupted extends IOException {
        private static final long serialVersionUID = 1L;

        Corrupted(String message) {
            super(message);
        }
    }
}
