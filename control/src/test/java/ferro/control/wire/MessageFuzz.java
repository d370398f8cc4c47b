package ferro.control.wire;

import java.nio.ByteBuffer;

/** The condition for any bytes from another rank: they are refused, or encoded to the same bytes again. */
final class MessageFuzz {
    private MessageFuzz() {}

    /**
     * Returns whether bytes are a message. All other bytes are refused.
     *
     * @throws AssertionError if the message is not encoded to the same bytes again
     * @throws RuntimeException if another exception than the refusal is thrown
     */
    static boolean isRead(MessageFamily family, byte[] bytes) {
        WireMessage read;
        try {
            read = family.decode(ByteBuffer.wrap(bytes));
        } catch (IllegalArgumentException refused) {
            return false;
        }
        ByteBuffer again = read.encoded();
        if (!again.equals(ByteBuffer.wrap(bytes))) {
            throw new AssertionError(read + " was read from " + bytes.length + " bytes and is written as "
                    + again.remaining() + " others");
        }
        return true;
    }
}
