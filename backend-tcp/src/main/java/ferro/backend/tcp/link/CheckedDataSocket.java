package ferro.backend.tcp.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A data connection whose bytes are sent in records with checksums ({@code ferro.tcp.checksum}). The caller receives
 * bytes only after their checksum has been verified. After a wrong checksum the caller receives no more bytes.
 *
 * <p>A record is a head and at most {@link #MOST_BYTES}. The head has its own checksum, which also covers the number of
 * the record. Therefore a wrong length causes no wait for missing bytes, and a lost or repeated record is detected.
 */
public final class CheckedDataSocket extends LayeredSocket {
    /** Maximum bytes of one record. The bytes of a record and their copy fit into the second-level cache together. */
    static final int MOST_BYTES = 64 << 10;
    /**
     * Size of a head, which has three fields of 4 bytes, little-endian: the length, the checksum of the bytes, and the
     * checksum of the record number, the length and the first checksum.
     */
    static final int HEAD_BYTES = 12;

    /**
     * Index of the head in {@link #out} and {@link #in}. The record number is stored before the head and is not sent.
     */
    private static final int HEAD = Long.BYTES;

    private static final int BODY = HEAD + HEAD_BYTES;
    private static final int LENGTH = HEAD;
    private static final int SUM = HEAD + 4;
    private static final int HEAD_SUM = HEAD + 8;

    private final ByteBuffer out = record();
    private final ByteBuffer in = record();
    private final CRC32C sum = new CRC32C();
    private long written;
    /** Start of the part of {@link #out} that the kernel has not accepted yet. */
    private int outAt = BODY;

    private int outEnd = BODY;
    private long checked;
    /**
     * Index after the last received byte in {@link #in}. {@link #inAt} is the index after the last byte that the caller
     * has read.
     */
    private int inEnd = HEAD;

    private int inAt;
    private boolean whole;
    private IOException broken;

    /** Creates a connection that sends its bytes over another connection in records with checksums. */
    public CheckedDataSocket(DataSocket inner) {
        super(inner);
    }

    /**
     * Writes bytes in records. The return value includes the bytes of a record only after the kernel has accepted the
     * last byte of the record. Until a record is accepted, the caller passes the same bytes again, although this object
     * already has a copy of the bytes.
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
    public boolean readable() {
        return whole || broken != null || super.readable();
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
     * Reads until a record is complete and correct.
     *
     * @param later whether the caller still receives bytes of earlier records in this read; a failure is then reported
     *     by the next read
     * @return 1 if a record is complete, 0 if no more bytes have arrived, -1 at the end of the stream
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

    /** Closes the connection. The start of the next record is unknown, so no more bytes are read or written. */
    private CorruptDataException corrupted(String how) {
        inner.close();
        return new CorruptDataException("record " + checked + " " + how);
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

    /** The failure of a connection that has delivered other bytes than the peer has sent. */
    public static final class CorruptDataException extends IOException {
        private static final long serialVersionUID = 1L;

        CorruptDataException(String message) {
            super(message);
        }
    }
}
