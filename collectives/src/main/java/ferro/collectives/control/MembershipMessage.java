package ferro.collectives.control;

import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/** What the memberships of a joined group tell each other; docs/wire-protocol.md has the table. */
sealed interface MembershipMessage {
    /** Kind and three longs, the most that is sent often. */
    int BEAT_BYTES = 1 + 3 * Long.BYTES;

    /**
     * The first message: who is there.
     *
     * @param intervalNanos between its heartbeats, 0 for none
     * @param identity      of its process, for {@link ferro.spi.ProcessTable#watch}; empty if unknown
     * @param place         for people; empty if unknown
     */
    record Present(long intervalNanos, String identity, String place) implements MembershipMessage {
        ByteBuffer encoded() {
            ByteBuffer bytes = ByteBuffer.allocate(1 + Long.BYTES + 2 * (Short.BYTES + MOST_TEXT_BYTES));
            bytes.put(PRESENT).putLong(intervalNanos);
            put(bytes, identity);
            put(bytes, place);
            return bytes.flip();
        }
    }

    /**
     * A heartbeat.
     *
     * @param number     1 and up: what comes twice or too late is known by it
     * @param pauses     how many pauses of its process the sender has told of
     * @param pauseNanos the last of them
     */
    record Beat(long number, long pauses, long pauseNanos) implements MembershipMessage {
        void encode(ByteBuffer bytes) {
            bytes.clear()
                    .put(BEAT)
                    .putLong(number)
                    .putLong(pauses)
                    .putLong(pauseNanos)
                    .flip();
        }
    }

    /** The last message: the sender has left all its groups, and will be silent. */
    record Leave() implements MembershipMessage {
        ByteBuffer encoded() {
            return ByteBuffer.allocate(1).put(LEAVE).flip();
        }
    }

    /**
     * A rank is lost, for those that do not watch it themselves.
     *
     * @param rank of the joined group
     * @param code why
     * @param text for people, with {@link Members#RANK} in it
     */
    record Lost(int rank, Code code, String text) implements MembershipMessage {
        ByteBuffer encoded() {
            ByteBuffer bytes = ByteBuffer.allocate(2 + Integer.BYTES + Short.BYTES + MOST_TEXT_BYTES);
            bytes.put(LOST).putInt(rank).put((byte) code.ordinal());
            put(bytes, text);
            return bytes.flip();
        }
    }

    /**
     * A rank that was lost by its silence is heard of again, for those that do not watch it themselves.
     *
     * @param rank of the joined group
     */
    record Found(int rank) implements MembershipMessage {
        ByteBuffer encoded() {
            return ByteBuffer.allocate(1 + Integer.BYTES)
                    .put(FOUND)
                    .putInt(rank)
                    .flip();
        }
    }

    /** First bytes. */
    byte PRESENT = 1;

    byte BEAT = 2;
    byte LEAVE = 3;
    byte LOST = 4;
    byte FOUND = 5;
    int MOST_TEXT_BYTES = 800;
    /** Why a rank can be lost. */
    Set<Code> LOSSES = Set.of(Code.PEER_LOST, Code.PARTITION, Code.PROTOCOL);

    /**
     * Reads a message.
     *
     * @throws IllegalArgumentException if it makes no sense
     */
    static MembershipMessage decode(ByteBuffer message) {
        ByteBuffer in = message.duplicate();
        int length = in.remaining();
        int kind = length == 0 ? 0 : in.get();
        if (kind == BEAT && length == BEAT_BYTES) {
            return new Beat(in.getLong(), in.getLong(), in.getLong());
        }
        if (kind == LEAVE && length == 1) {
            return new Leave();
        }
        if (kind == PRESENT && length > Long.BYTES) {
            return new Present(in.getLong(), text(in), text(in));
        }
        if (kind == FOUND && length == 1 + Integer.BYTES) {
            return new Found(in.getInt());
        }
        if (kind == LOST && length > 1 + Integer.BYTES) {
            return lost(in);
        }
        throw new IllegalArgumentException("membership message of kind " + kind + " with " + length + " bytes");
    }

    private static Lost lost(ByteBuffer in) {
        int rank = in.getInt();
        int code = in.get();
        if (code < 0 || code >= Code.values().length) {
            throw new IllegalArgumentException("membership message of unknown code " + code);
        }
        if (!LOSSES.contains(Code.values()[code])) {
            throw new IllegalArgumentException(
                    "membership message of a rank lost with " + Code.values()[code] + ", need one of " + LOSSES);
        }
        return new Lost(rank, Code.values()[code], text(in));
    }

    private static void put(ByteBuffer bytes, String text) {
        byte[] words = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(words.length, MOST_TEXT_BYTES);
        bytes.putShort((short) length).put(words, 0, length);
    }

    private static String text(ByteBuffer in) {
        int length = in.remaining() < Short.BYTES ? -1 : in.getShort();
        if (length < 0 || length > in.remaining()) {
            throw new IllegalArgumentException("membership message with a text of " + length + " bytes, of which "
                    + in.remaining() + " are there");
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
