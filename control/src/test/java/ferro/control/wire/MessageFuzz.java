package ferro.control.wire;

import java.nio.ByteBuffer;

/** What holds for any bytes that come from another rank. */
final class MessageFuzz {
    private MessageFuzz() {}

    /**
     * Returns whether bytes are a message; all others are refused.
     *
     * @throws AssertionError   if what was read does not come back as it was
     * @throws RuntimeException other than the refusal if one is thrown
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
