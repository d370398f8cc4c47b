package ferro.collectives.link;

import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header in front of the first elements of each call on a link, the same on every medium: the call's place in the order, and the
 * fingerprint of what it is. Ranks that find another one than their own have made different calls.
 *
 * <p>Between hosts both numbers are little-endian. Memory that ranks share has them in native order, and the sequence is written last:
 * it tells that the rest is there.
 */
public final class WireHeader {
    /** Length: two numbers of 64 bits. */
    public static final int BYTES = 2 * Long.BYTES;

    /** Where the fingerprint stands, from the beginning of the header; the sequence is in front of it. */
    public static final int FINGERPRINT_AT = Long.BYTES;

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
        long sequence = wireOrder(from.getLong(at));
        return other(expected.sequence(), expected.call(), sequence, wireOrder(from.getLong(at + FINGERPRINT_AT)));
    }

    /**
     * Compares the numbers of a header that came with those of the call it is expected of.
     *
     * @param sequence         of the expected call
     * @param expected         the rest of it
     * @param foundSequence    what came
     * @param foundFingerprint what came
     * @return null if they are the same; else what came, as far as a medium knows it
     */
    public static CallHeader other(long sequence, CallHeader.Call expected, long foundSequence, long foundFingerprint) {
        return foundSequence == sequence && foundFingerprint == expected.fingerprint()
                ? null
                : CallHeader.of(expected.group(), foundSequence, foundFingerprint, "");
    }

    /** Turns a long of native order into one of the wire's, little-endian, or back. */
    private static long wireOrder(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
    }
}
