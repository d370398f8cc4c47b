package ferro.collectives.link;

import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header in front of the first elements of each call on a link, the same on every medium: the call's number in the
 * order, and the fingerprint of the call. Ranks that find another header than their own have made different calls. The
 * fields are defined only here and in docs/wire-protocol.md.
 *
 * <p>The sequence comes first. Numbers are little-endian, with one exception: in memory that ranks share, the sequence has
 * native order, and is written last to tell that the rest is there.
 */
public final class WireHeader {
    /**
     * Version of the protocol: of this header, and of what ranks tell each other besides the data. A rank with another
     * version is refused before a byte of either moves.
     */
    public static final int PROTOCOL_VERSION = 7;

    /** Length: two numbers of 64 bits. */
    public static final int BYTES = 2 * Long.BYTES;

    private static final int FINGERPRINT_AT = Long.BYTES;

    private WireHeader() {}

    /**
     * Writes the header of a call.
     *
     * @param call the call
     * @param into memory of the medium, in native order
     * @param at   first byte, of any alignment
     */
    public static void put(CallHeader call, ByteBuffer into, int at) {
        into.putLong(at, wireOrder(call.sequence()));
        putRest(call.call(), into, at);
    }

    /**
     * Writes the header of a call except for the sequence, into memory that ranks share. The caller writes the sequence
     * afterwards, and must make this header visible to others before it.
     *
     * @param call the call
     * @param into memory, in native order
     * @param at   first byte of the header
     */
    public static void putRest(CallHeader.Call call, ByteBuffer into, int at) {
        into.putLong(at + FINGERPRINT_AT, wireOrder(call.fingerprint()));
    }

    /**
     * Compares a header that came with the header of the expected call.
     *
     * @param expected call
     * @param from     memory of the medium, in native order
     * @param at       first byte, of any alignment
     * @return null if they are the same; else what came, as far as a medium knows it
     */
    public static CallHeader other(CallHeader expected, ByteBuffer from, int at) {
        return other(expected.sequence(), expected.call(), wireOrder(from.getLong(at)), from, at);
    }

    /**
     * Compares a header, whose sequence was read already, with the header of the expected call.
     *
     * @param sequence      of the expected call
     * @param expected      the rest of it
     * @param foundSequence the sequence that came
     * @param from          memory that holds the rest, in native order
     * @param at            first byte of the header
     * @return null if they are the same; else what came, as far as a medium knows it
     */
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
