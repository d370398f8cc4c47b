package ferro.collectives.link;

import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header in front of the first elements of each call on a link, the same on every medium. The header has the
 * sequence number of the call and the fingerprint of the call. If a rank receives an unexpected header, the ranks have
 * made different calls. The fields are defined only in this class and in docs/wire-protocol.md.
 *
 * <p>The sequence is the first field of the header. Numbers are little-endian, except that the sequence has native
 * order in memory that ranks share. In shared memory, a rank writes the sequence last, which shows that the header is
 * complete.
 */
public final class WireHeader {
    /**
     * Version of the protocol, which covers this header and the control messages between ranks. A rank with another
     * version is refused before any header or control message moves.
     */
    public static final int PROTOCOL_VERSION = 11;

    /** Length of a header in bytes: two numbers of 64 bits. */
    public static final int BYTES = 2 * Long.BYTES;

    private static final int FINGERPRINT_AT = Long.BYTES;

    private WireHeader() {}

    /** Writes the header of a call into memory in native order, at any alignment. */
    public static void put(CallHeader call, ByteBuffer into, int at) {
        into.putLong(at, wireOrder(call.sequence()));
        putRest(call.call(), into, at);
    }

    /**
     * Writes the header of a call without the sequence into memory that ranks share. The caller writes the sequence
     * later. All other fields must become visible to other ranks before the sequence.
     */
    public static void putRest(CallHeader.Call call, ByteBuffer into, int at) {
        into.putLong(at + FINGERPRINT_AT, wireOrder(call.fingerprint()));
    }

    /**
     * Compares a header that has arrived, at any alignment, with the header of the expected call. Returns null if the
     * headers are the same; else the header that arrived, without the text of its call.
     */
    public static CallHeader other(CallHeader expected, ByteBuffer from, int at) {
        return other(expected.sequence(), expected.call(), wireOrder(from.getLong(at)), from, at);
    }

    /** Does the same as {@link #other(CallHeader, ByteBuffer, int)}, for a header whose sequence was already read. */
    public static CallHeader other(
            long sequence, CallHeader.Call expected, long foundSequence, ByteBuffer from, int at) {
        long found = wireOrder(from.getLong(at + FINGERPRINT_AT));
        return foundSequence == sequence && found == expected.fingerprint()
                ? null
                : CallHeader.of(expected.group(), foundSequence, found, "");
    }

    /** Converts a long between native order and little-endian, the order of the wire. */
    private static long wireOrder(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
    }
}
