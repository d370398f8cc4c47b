package ferro.control.wire;

import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;

/** A reader of the fields of a message from another rank, which checks every field. */
public final class FieldReader implements FieldCodec {
    private static final Code[] CODES = Code.values();
    /** The largest number of bytes of an invalid value that an error quotes. */
    private static final int QUOTED_MOST = 60;

    private final String family;
    private final ByteBuffer in;
    private final int worldSize;
    private final int kind;

    /**
     * Reads the kind of a message. The caller then reads the fields of the message and calls {@link #end}.
     *
     * @param family    name of the family of messages for people, such as control message
     * @param message   bytes of the message; position and limit stay unchanged
     * @param worldSize number of ranks of the group that the message is for
     * @throws IllegalArgumentException if the message is empty, or longer than the longest message
     */
    public FieldReader(String family, ByteBuffer message, int worldSize) {
        this(family, message, worldSize, WireMessage.BYTES_MOST);
    }

    /**
     * Reads the kind of a message that is not a control message. The message may be longer than the longest control
     * message.
     *
     * @param family    name of the family of messages for people, such as report of a rank
     * @param message   bytes of the message; position and limit stay unchanged
     * @param worldSize number of ranks of the group that the message is for
     * @param maxBytes  length of the longest message, in bytes
     * @throws IllegalArgumentException if the message is empty, or longer than {@code maxBytes}
     */
    public FieldReader(String family, ByteBuffer message, int worldSize, int maxBytes) {
        int length = message.remaining();
        if (length == 0 || length > maxBytes) {
            throw new IllegalArgumentException(family + " of " + length + " bytes, need 1 to " + maxBytes);
        }
        this.family = family;
        this.in = message.duplicate();
        this.worldSize = worldSize;
        this.kind = in.get();
    }

    /** Returns the first byte of the message, which is the kind of the message. */
    public int kind() {
        return kind;
    }

    /**
     * Returns the exception for a message of an unknown kind.
     *
     * @param last largest known kind
     */
    public IllegalArgumentException unknown(int last) {
        return new IllegalArgumentException(family + " of kind " + kind + ", need 1 to " + last);
    }

    @Override
    public void kind(byte known) {
        // the caller has chosen the message by its kind
    }

    /**
     * Checks that the message ends after the last field.
     *
     * @throws IllegalArgumentException if bytes remain after the last field
     */
    public void end() {
        if (in.hasRemaining()) {
            throw new IllegalArgumentException(
                    family + " of kind " + kind + ": " + in.remaining() + " bytes after its last field, need 0");
        }
    }

    @Override
    public long int64(String name, long ignored) {
        return need(name, Long.BYTES).getLong();
    }

    @Override
    public int count(String name, int ignored) {
        int count = need(name, Integer.BYTES).getInt();
        if (count < 0) {
            throw wrong(name, Integer.toString(count), "0 or more");
        }
        return count;
    }

    @Override
    public int rank(String name, int ignored) {
        int rank = need(name, Integer.BYTES).getInt();
        if (rank < 0 || rank >= worldSize) {
            throw wrong(name, Integer.toString(rank), "a rank below " + worldSize);
        }
        return rank;
    }

    @Override
    public Code code(String name, Set<Code> possible, Code ignored) {
        int place = need(name, Byte.BYTES).get();
        Code code = place < 0 || place >= CODES.length ? null : CODES[place];
        if (code == null || !possible.contains(code)) {
            throw wrong(name, code == null ? "code " + place : code.toString(), "one of " + possible);
        }
        return code;
    }

    @Override
    public Set<Integer> ranks(String name, int maxBytes, Set<Integer> ignored) {
        return ranks(name, maxBytes, worldSize);
    }

    @Override
    public Set<Integer> joinedRanks(String name, Set<Integer> ignored) {
        return ranks(name, FieldWriter.RANKS_MOST, Integer.MAX_VALUE);
    }

    private Set<Integer> ranks(String name, int maxBytes, int below) {
        String list = text(name, maxBytes, "");
        if (!RankSetFormat.isList(list, below)) {
            throw wrong(name, quoted(list), "ranks below " + below);
        }
        Set<Integer> ranks = RankSetFormat.numbers(list);
        if (!RankSetFormat.list(ranks).equals(list)) {
            throw wrong(name, quoted(list), "ascending ranks");
        }
        return ranks;
    }

    private static String quoted(String list) {
        return '"' + FieldWriter.cut(list, QUOTED_MOST) + '"';
    }

    @Override
    public String text(String name, int maxBytes, String ignored) {
        int length = Short.toUnsignedInt(need(name, Short.BYTES).getShort());
        if (length > maxBytes) {
            throw wrong(name, "a text of " + length + " bytes", "at most " + maxBytes);
        }
        byte[] bytes = new byte[length];
        need(name, length).get(bytes);
        String text = new String(bytes, StandardCharsets.UTF_8);
        // the decoder replaces invalid UTF-8 by this character, which a valid text may also contain
        if (text.indexOf('\uFFFD') >= 0 && !Arrays.equals(bytes, text.getBytes(StandardCharsets.UTF_8))) {
            throw wrong(name, "a text of " + length + " bytes that is not UTF-8", "UTF-8");
        }
        return text;
    }

    @Override
    public byte[] bytes(String name, int maxBytes, byte[] ignored) {
        int length = count(name, 0);
        if (length > maxBytes) {
            throw wrong(name, length + " bytes", "at most " + maxBytes);
        }
        byte[] bytes = new byte[length];
        need(name, length).get(bytes);
        return bytes;
    }

    private ByteBuffer need(String name, int bytes) {
        if (in.remaining() < bytes) {
            throw wrong(name, in.remaining() + " bytes", bytes + " more");
        }
        return in;
    }

    private IllegalArgumentException wrong(String name, String found, String needed) {
        return new IllegalArgumentException(
                family + " of kind " + kind + ", field " + name + ": found " + found + ", need " + needed);
    }
}
