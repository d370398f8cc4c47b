package ferro.control.wire;

import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/** Writes the fields of a message, big-endian, as {@link Fields} defines them; a field that is too long is cut. */
public final class FieldWriter {
    /** Longest list of ranks, in bytes. */
    static final int RANKS_MOST = 1024;

    /** Most messages are shorter than this. */
    private static final int USUAL_BYTES = 128;

    private ByteBuffer out = ByteBuffer.allocate(USUAL_BYTES);

    FieldWriter(byte kind) {
        out.put(kind);
    }

    /** Writes eight bytes, big-endian. */
    public FieldWriter int64(long value) {
        room(Long.BYTES).putLong(value);
        return this;
    }

    /** Writes four bytes, big-endian. */
    public FieldWriter int32(int value) {
        room(Integer.BYTES).putInt(value);
        return this;
    }

    /** Writes a code as one byte. */
    public FieldWriter code(Code code) {
        room(Byte.BYTES).put((byte) code.ordinal());
        return this;
    }

    /** Writes ranks, ascending, as many as a message takes. */
    public FieldWriter ranks(Set<Integer> ranks) {
        return ranks(ranks, RANKS_MOST);
    }

    /** Writes ranks, ascending, as many as these bytes take. */
    public FieldWriter ranks(Set<Integer> ranks, int maxBytes) {
        return text(RankLists.list(cutRanks(ranks, maxBytes)), maxBytes);
    }

    /** Writes a text. One that is too long ends with the number of characters that are missing. */
    public FieldWriter text(String text, int maxBytes) {
        byte[] bytes = cut(text, maxBytes).getBytes(StandardCharsets.UTF_8);
        room(Short.BYTES + bytes.length).putShort((short) bytes.length).put(bytes);
        return this;
    }

    /** Writes the length and as many of these bytes as a field takes. */
    public FieldWriter bytes(byte[] bytes, int maxBytes) {
        int length = Math.min(bytes.length, maxBytes);
        room(Integer.BYTES + length).putInt(length).put(bytes, 0, length);
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

    /** Returns the ranks of a set, ascending, as many as a message takes. */
    public static Set<Integer> cutRanks(Set<Integer> ranks) {
        return cutRanks(ranks, RANKS_MOST);
    }

    /** Returns the ranks of a set, ascending, as many as these bytes take. */
    public static Set<Integer> cutRanks(Set<Integer> ranks, int maxBytes) {
        Set<Integer> kept = new TreeSet<>();
        int bytes = 0;
        for (int rank : new TreeSet<>(ranks)) {
            bytes += Integer.toString(rank).length();
            if (rank >= 0 && bytes <= maxBytes) {
                kept.add(rank);
                bytes++; // the comma behind it
            }
        }
        return Collections.unmodifiableSet(kept);
    }

    /**
     * Returns a text that takes at most so many bytes of UTF-8. A text that is cut, between two characters, ends with the
     * number of characters that are missing.
     */
    public static String cut(String text, int maxBytes) {
        // one char takes at most three bytes
        if (text.length() <= maxBytes / 3) {
            return text;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= maxBytes) {
            return text;
        }
        // fewer characters are missing than the text has
        int length = cut(bytes, Math.max(0, maxBytes - missing(text.length()).length()));
        String start = new String(bytes, 0, length, StandardCharsets.UTF_8);
        return start + missing(text.codePointCount(0, text.length()) - start.codePointCount(0, start.length()));
    }

    private static String missing(int characters) {
        return " ... (" + characters + " more characters)";
    }

    private static int cut(byte[] utf8, int maxBytes) {
        int length = Math.min(utf8.length, maxBytes);
        while (length < utf8.length && (utf8[length] & 0xC0) == 0x80) {
            length--;
        }
        return length;
    }
}
