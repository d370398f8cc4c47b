package ferro.collectives.link;

import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header in front of the first elements of each call on a link, the same on every medium: the call's place in the order, and the
 * fingerprint of what it is. Ranks that find another one than their own have made different calls. What its fields are stands here
 * and in docs/wire-protocol.md alone.
 *
 * <p>The sequence comes first. Numbers are little-endian, except that memory which ranks share has the sequence in native order, and
 * written last: it tells that the rest is there.
 */
public final class WireHeader {
    /**
     * Version of the protocol: of this header, and of what ranks tell each other beside the data. A rank of another one is refused
     * before a byte of either moves.
     */
    public static final int PROTOCOL_VERSION = 5;

    /** Length: two numbers of 64 bits. */
    public static final int BYTES = 2 * Long.BYTES;

    private static final int FINGERPRINT_AT = Long.BYTES;

    private WireHeader() {}

    /**
     * Writes the header of a call.
     *
     * @param call whose
     * @param into memory of the medium, in native order
     * @param at   first byte, of any alignment
     */
    public static void put(CallHeader call, ByteBuffer into, int at) {
        into.putLong(at, wireOrder(call.sequence()));
        putRest(call.call(), into, at);
    }

    /**
     * Writes the header of a call but for the sequence, into memory that ranks share. Whoever writes the sequence then has others
     * see this before it.
     *
     * @param call whose
     * @param into memory, in native order
     * @param at   first byte of the header
     */
    public static void putRest(CallHeader.Call call, ByteBuffer into, int at) {
        into.putLong(at + FINGERPRINT_AT, wireOrder(call.fingerprint()));
    }

    /**
     * Compares a header that came with that of the call it is expected of.
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
     * Compares a header whose sequence was read already with that of the call it is expected of.
     *
     * @param sequence      of the expected call
     * @param expected      the rest of it
     * @param foundSequence what came
     * @param from          memory that the rest stands in, in native order
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

    /** Turns a long of native order into one of the wire's, little-endian, or back. */
    private static long wireOrder(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
    }
}
