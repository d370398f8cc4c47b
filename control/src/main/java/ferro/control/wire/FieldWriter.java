package ferro.control.wire;

import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/** A writer of the fields of a message. */
public final class FieldWriter implements FieldCodec {
    /** The longest list of ranks, in bytes. */
    public static final int RANKS_MOST = 1024;

    /** The initial size of the buffer, in bytes. Most messages are shorter. */
    private static final int USUAL_BYTES = 128;

    private ByteBuffer out = ByteBuffer.allocate(USUAL_BYTES);

    @Override
    public void kind(byte kind) {
        room(Byte.BYTES).put(kind);
    }

    @Override
    public long int64(String name, long value) {
        room(Long.BYTES).putLong(value);
        return value;
    }

    @Override
    public int count(String name, int value) {
        room(Integer.BYTES).putInt(value);
        return value;
    }

    @Override
    public int rank(String name, int value) {
        return count(name, value);
    }

    @Override
    public Code code(String name, Set<Code> possible, Code value) {
        room(Byte.BYTES).put((byte) value.ordinal());
        return value;
    }

    @Override
    public Set<Integer> ranks(String name, int maxBytes, Set<Integer> value) {
        text(name, maxBytes, RankSetFormat.list(cutRanks(value, maxBytes)));
        return value;
    }

    @Override
    public Set<Integer> joinedRanks(String name, Set<Integer> value) {
        return ranks(name, RANKS_MOST, value);
    }

    @Override
    public String text(String name, int maxBytes, String value) {
        byte[] bytes = cut(value, maxBytes).getBytes(StandardCharsets.UTF_8);
        room(Short.BYTES + bytes.length).putShort((short) bytes.length).put(bytes);
        return value;
    }

    @Override
    public byte[] bytes(String name, int maxBytes, byte[] value) {
        int length = Math.min(value.length, maxBytes);
        room(Integer.BYTES + length).putInt(length).put(value, 0, length);
        return value;
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

    /** Returns the lowest ranks of a set, ascending, as many as a list of ranks in a message can hold. */
    public static Set<Integer> cutRanks(Set<Integer> ranks) {
        return cutRanks(ranks, RANKS_MOST);
    }

    /** Returns the lowest ranks of a set, ascending, as many as a list of {@code maxBytes} bytes can hold. */
    public static Set<Integer> cutRanks(Set<Integer> ranks, int maxBytes) {
        Set<Integer> kept = new TreeSet<>();
        int bytes = 0;
        for (int rank : new TreeSet<>(ranks)) {
            bytes += Integer.toString(rank).length();
            if (rank >= 0 && bytes <= maxBytes) {
                kept.add(rank);
                bytes++; // the comma after the rank
            }
        }
        return Collections.unmodifiableSet(kept);
    }

    /**
     * Cuts a text to at most {@code maxBytes} bytes of UTF-8. The cut is between two characters, and a text that was
     * cut ends with the number of missing characters.
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
        // the number of missing characters is at most the length of the text
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
