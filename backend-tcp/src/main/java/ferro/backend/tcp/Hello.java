package ferro.backend.tcp;

import ferro.FerroException.Code;
import ferro.collectives.link.WireHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The first thing a connecting side says; all of it is covered by both proofs. See docs/wire-protocol.md.
 *
 * @param kind      what the connection is for
 * @param job       job id
 * @param member    who connects
 * @param channel   which data channel; {@link Channel#NONE} for other kinds
 * @param options   of the connecting side
 * @param nonce     32 fresh random bytes
 */
record Hello(Kind kind, String job, Member member, Channel channel, Options options, byte[] nonce) {
    static final int VERSION = WireHeader.PROTOCOL_VERSION;
    static final int PREFIX_BYTES = 12;
    static final int NONCE_BYTES = 32;
    static final int MOST_JOB_BYTES = 64;
    /** No frame before the end of the handshake is longer. */
    static final int MOST_BYTES = 512;

    /** High bit first, so that no text protocol and no TLS hello begins like it. */
    private static final byte[] MAGIC = {(byte) 0xF3, 'f', 'e', 'r', 'r', 'o', '\r', '\n'};

    private static final int FIXED_BYTES = 69;
    private static final byte NATIVE_ORDER = (byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 2);

    /** What a connection is for. */
    enum Kind {
        STORE,
        CONTROL,
        DATA
    }

    /**
     * Who connects to whom.
     *
     * @param group     hash of the group's name and generation
     * @param rank      the connecting rank
     * @param worldSize number of ranks
     * @param to        the rank wanted; -1 for a store
     */
    record Member(long group, int rank, int worldSize, int to) {
        /** A launcher is no rank: it stands below all of them, with a number of its own choice in the place of a group. */
        static Member ofLauncher(int node, long session) {
            return new Member(session, -1 - node, 0, -1);
        }

        boolean isLauncher() {
            return rank < 0;
        }

        /** Which node a launcher says it is of. */
        int node() {
            return -1 - rank;
        }
    }

    /**
     * Which data channel.
     *
     * @param group identity of the (sub)group
     * @param lane  lane
     * @param epoch epoch
     */
    record Channel(long group, byte lane, int epoch) {
        static final Channel NONE = new Channel(0, (byte) 0, 0);
    }

    /**
     * What must be equal on both sides, in one byte.
     *
     * @param secret   whether there is one
     * @param checksum whether data travels with checksums
     */
    record Options(boolean secret, boolean checksum) {
        private static final int SECRET = 1;
        private static final int CHECKSUM = 2;

        private byte encoded() {
            return (byte) ((secret ? SECRET : 0) | (checksum ? CHECKSUM : 0));
        }

        private static Options decoded(byte bits) {
            return new Options((bits & SECRET) != 0, (bits & CHECKSUM) != 0);
        }
    }

    /** Whether what came so far can be the beginning of a hello. */
    static boolean begins(byte[] bytes, int count) {
        int compared = Math.min(count, MAGIC.length);
        return Arrays.equals(bytes, 0, compared, MAGIC, 0, compared);
    }

    byte[] encoded() {
        byte[] name = job.getBytes(StandardCharsets.UTF_8);
        if (name.length > MOST_JOB_BYTES) {
            throw new IllegalArgumentException("job id \"" + job + "\" has " + name.length + " bytes: need at most "
                    + MOST_JOB_BYTES + " (FERRO_JOB_ID)");
        }
        ByteBuffer out = ByteBuffer.allocate(PREFIX_BYTES + FIXED_BYTES + name.length);
        out.put(MAGIC).putShort((short) VERSION).putShort((short) (FIXED_BYTES + name.length));
        out.put(NATIVE_ORDER).put((byte) (kind.ordinal() + 1)).put(options.encoded());
        out.putLong(member.group).putInt(member.rank).putInt(member.worldSize).putInt(member.to);
        out.putLong(channel.group).put(channel.lane).putInt(channel.epoch);
        out.put(nonce).put((byte) name.length).put(name);
        return out.array();
    }

    /** Reads the prefix, whose magic has been compared; returns how many bytes follow. */
    static int following(ByteBuffer prefix) throws Refusal {
        int version = Short.toUnsignedInt(prefix.getShort(MAGIC.length));
        if (version != VERSION) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "protocol version " + VERSION + " is spoken here, yours is " + version
                            + ": run one version of ferro on all ranks");
        }
        int length = Short.toUnsignedInt(prefix.getShort(MAGIC.length + Short.BYTES));
        if (length < FIXED_BYTES || length > FIXED_BYTES + MOST_JOB_BYTES) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "a hello of " + length + " bytes: need " + FIXED_BYTES + " to " + (FIXED_BYTES + MOST_JOB_BYTES));
        }
        return length;
    }

    /** Reads what follows the prefix. */
    static Hello decoded(ByteBuffer in) throws Refusal {
        byte order = in.get();
        if (order != NATIVE_ORDER) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "byte order " + NATIVE_ORDER + " is spoken here, yours is " + order
                            + ": all ranks need machines of one byte order");
        }
        int kind = in.get() - 1;
        if (kind < 0 || kind >= Kind.values().length) {
            throw new Refusal(Code.PROTOCOL, "no kind of connection has number " + (kind + 1));
        }
        Options options = Options.decoded(in.get());
        Member member = new Member(in.getLong(), in.getInt(), in.getInt(), in.getInt());
        Channel channel = new Channel(in.getLong(), in.get(), in.getInt());
        byte[] nonce = new byte[NONCE_BYTES];
        in.get(nonce);
        int length = Byte.toUnsignedInt(in.get());
        if (length != in.remaining()) {
            throw new Refusal(
                    Code.PROTOCOL, "a job id of " + length + " bytes in a hello that has room for " + in.remaining());
        }
        byte[] name = new byte[length];
        in.get(name);
        return new Hello(
                Kind.values()[kind], new String(name, StandardCharsets.UTF_8), member, channel, options, nonce);
    }

    @Override
    public String toString() {
        return member.isLauncher()
                ? kind + " connection of the launcher of node " + member.node() + ", job \"" + job + "\""
                : kind + " connection of rank " + member.rank + " of " + member.worldSize + ", job \"" + job + "\"";
    }
}
