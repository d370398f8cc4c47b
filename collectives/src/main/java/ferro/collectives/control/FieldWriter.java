package ferro.collectives.control;

import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes the fields of a message, big-endian, as {@link Fields} says; what is too long is cut. */
final class FieldWriter {
    /** Longest list of ranks, in bytes. */
    static final int RANKS_MOST = 1024;

    /** What most messages are shorter than. */
    private static final int USUAL_BYTES = 128;

    private ByteBuffer out = ByteBuffer.allocate(USUAL_BYTES);

    FieldWriter(byte kind) {
        out.put(kind);
    }

    FieldWriter int64(long value) {
        room(Long.BYTES).putLong(value);
        return this;
    }

    FieldWriter int32(int value) {
        room(Integer.BYTES).putInt(value);
        return this;
    }

    FieldWriter code(Code code) {
        room(Byte.BYTES).put((byte) code.ordinal());
        return this;
    }

    /** Cuts between two ranks: half a number would be another rank. */
    FieldWriter ranks(String list) {
        return text(cutRanks(list), RANKS_MOST);
    }

    /** Cuts between two characters, so that the text reads back as it is. */
    FieldWriter text(String text, int bytesMost) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = cut(bytes, bytesMost);
        room(Short.BYTES + length).putShort((short) length).put(bytes, 0, length);
        return this;
    }

    ByteBuffer bytes() {
        return out.flip();
    }

    private ByteBuffer room(int bytes) {
        if (out.remaining() < bytes) {
            int needed = out.position() + bytes;
            out = ByteBuffer.allocate(Math.max(needed, 2 * out.capacity())).put(out.flip());
        }
        return out;
    }

    static String cutRanks(String list) {
        int cut = list.length() <= RANKS_MOST ? list.length() : list.lastIndexOf(',', RANKS_MOST);
        return list.substring(0, Math.max(0, cut));
    }

    static String cut(String text, int bytesMost) {
        // three bytes are the most that one char takes
        if (text.length() * 3 <= bytesMost) {
            return text;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = cut(bytes, bytesMost);
        return length == bytes.length ? text : new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private static int cut(byte[] utf8, int bytesMost) {
        int length = Math.min(utf8.length, bytesMost);
        while (length < utf8.length && (utf8[length] & 0xC0) == 0x80) {
            length--;
        }
        return length;
    }
}
