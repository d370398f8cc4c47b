package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import ferro.collectives.link.WireHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The first message of a connecting side. Both proofs cover all of it. See docs/wire-protocol.md.
 *
 * @param kind      what the connection is for
 * @param job       job id
 * @param member    connecting rank or launcher
 * @param channel   which data channel; {@link ChannelIdentity#NONE} for other kinds
 * @param options   options of the connecting side
 * @param attempt   which attempt of which process this is
 */
public record Hello(
        ConnectionKind kind,
        String job,
        Peering member,
        ChannelIdentity channel,
        HelloOptions options,
        Attempt attempt) {
    static final int VERSION = WireHeader.PROTOCOL_VERSION;
    static final int PREFIX_BYTES = 12;
    public static final int NONCE_BYTES = 32;
    static final int MOST_JOB_BYTES = 64;
    /** Most bytes of a frame before the end of the handshake. */
    public static final int MOST_BYTES = 512;

    /** First bytes of a hello; the high bit is set first, so that no text protocol and no TLS hello begins like it. */
    private static final byte[] MAGIC = {(byte) 0xF3, 'f', 'e', 'r', 'r', 'o', '\r', '\n'};

    private static final int FIXED_BYTES = 117;
    private static final byte NATIVE_ORDER = (byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 2);

    /** What a connection is for. */
    public enum ConnectionKind {
        STORE,
        CONTROL,
        DATA,
        /** Ends after the handshake, which shows that the process of the rank lives. */
        ALIVE
    }

    /**
     * The rank that connects and the rank that it connects to.
     *
     * @param group     hash of the group's name and generation
     * @param rank      the connecting rank
     * @param worldSize number of ranks
     * @param to        the rank to connect to; -1 for a store
     */
    public record Peering(long group, int rank, int worldSize, int to) {
        /** Makes the peering of a launcher, which is no rank: a negative rank, and a number of its choice as the group. */
        public static Peering ofLauncher(int node, long session) {
            return new Peering(session, -1 - node, 0, -1);
        }

        /** Returns whether a launcher, which is no rank, connects. */
        public boolean isLauncher() {
            return rank < 0;
        }

        /** Returns the node that a launcher names as its own. */
        public int node() {
            return -1 - rank;
        }
    }

    /**
     * The identity of a data channel.
     *
     * @param group identity of the (sub)group
     * @param lane  lane
     * @param epoch epoch
     */
    public record ChannelIdentity(long group, byte lane, int epoch) {
        /** The lane whose bytes mean nothing, and which therefore stays plain. */
        static final byte BELL = 2;

        public static final ChannelIdentity NONE = new ChannelIdentity(0, (byte) 0, 0);
    }

    /**
     * The identity of one attempt to connect.
     *
     * @param process number that the connecting process has drawn
     * @param number  number of the attempt; each attempt of a process has a higher number than the one before
     * @param answerLimitMillis how long the connecting side waits for each answer
     * @param nonce   32 fresh random bytes
     */
    public record Attempt(long process, int number, int answerLimitMillis, byte[] nonce) {
        /** Makes an attempt that waits as long as a listener does at least. */
        public Attempt(long process, int number, byte[] nonce) {
            this(process, number, (int) TcpListener.HANDSHAKE_MILLIS, nonce);
        }
    }

    /**
     * The options that must be equal on both sides, in one byte.
     *
     * @param secret   whether there is a secret
     * @param checksum whether data travels with checksums
     * @param tls      whether the connecting side wants TLS
     * @param key      hash of its TLS key; zeros if it does not want TLS
     */
    public record HelloOptions(boolean secret, boolean checksum, TlsWish tls, byte[] key) {
        private static final int SECRET = 1;
        private static final int CHECKSUM = 2;
        private static final int TLS = 4;
        private static final int NO_TLS = 8;

        /** Makes the options of a side without a key for the connection. */
        public HelloOptions(boolean secret, boolean checksum, TlsWish tls) {
            this(secret, checksum, tls, new byte[TlsIdentity.FINGERPRINT_BYTES]);
        }

        /** Makes the options of a side that leaves TLS to the other one. */
        public HelloOptions(boolean secret, boolean checksum) {
            this(secret, checksum, TlsWish.EITHER);
        }

        private byte encoded() {
            int wish = tls == TlsWish.TLS ? TLS : tls == TlsWish.PLAIN ? NO_TLS : 0;
            return (byte) ((secret ? SECRET : 0) | (checksum ? CHECKSUM : 0) | wish);
        }

        private static HelloOptions decoded(byte bits, byte[] key) {
            TlsWish wish = (bits & TLS) != 0 ? TlsWish.TLS : (bits & NO_TLS) != 0 ? TlsWish.PLAIN : TlsWish.EITHER;
            return new HelloOptions((bits & SECRET) != 0, (bits & CHECKSUM) != 0, wish, key);
        }
    }

    /** What the connecting side says about TLS. */
    enum TlsWish {
        /** It encrypts, and its key is in the hello. */
        TLS,
        /** It would stay plain, but takes TLS. */
        EITHER,
        /** It has no TLS ({@code ferro.tls=off}). */
        PLAIN
    }

    /** Returns whether the process that said {@code former} asks for the same connection again. */
    public boolean asksAgain(Hello former) {
        return kind == former.kind
                && member.equals(former.member)
                && channel.equals(former.channel)
                && attempt.process == former.attempt.process
                && attempt.number > former.attempt.number;
    }

    /** Returns whether the process that said {@code later} has made this attempt before that one. */
    public boolean isOlderThan(Hello later) {
        return attempt.process == later.attempt.process && attempt.number < later.attempt.number;
    }

    /** Returns whether the bytes that have come can be the beginning of a hello. */
    static boolean begins(byte[] bytes, int count) {
        int compared = Math.min(count, MAGIC.length);
        return Arrays.equals(bytes, 0, compared, MAGIC, 0, compared);
    }

    /** Returns the bytes on the wire. */
    public byte[] encoded() {
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
        out.putLong(attempt.process).putInt(attempt.number).putInt(attempt.answerLimitMillis);
        out.put(attempt.nonce).put(options.key).put((byte) name.length).put(name);
        return out.array();
    }

    /** Reads the prefix, whose magic was compared before; returns how many bytes follow. */
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

    /** Reads the bytes that follow the prefix. */
    static Hello decoded(ByteBuffer in) throws Refusal {
        byte order = in.get();
        if (order != NATIVE_ORDER) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "byte order " + NATIVE_ORDER + " is spoken here, yours is " + order
                            + ": all ranks need machines of one byte order");
        }
        int kind = in.get() - 1;
        if (kind < 0 || kind >= ConnectionKind.values().length) {
            throw new Refusal(Code.PROTOCOL, "no kind of connection has number " + (kind + 1));
        }
        byte bits = in.get();
        Peering member = new Peering(in.getLong(), in.getInt(), in.getInt(), in.getInt());
        ChannelIdentity channel = new ChannelIdentity(in.getLong(), in.get(), in.getInt());
        long process = in.getLong();
        int number = in.getInt();
        int answerLimitMillis = in.getInt();
        byte[] nonce = new byte[NONCE_BYTES];
        in.get(nonce);
        byte[] key = new byte[TlsIdentity.FINGERPRINT_BYTES];
        in.get(key);
        int length = Byte.toUnsignedInt(in.get());
        if (length != in.remaining()) {
            throw new Refusal(
                    Code.PROTOCOL, "a job id of " + length + " bytes in a hello that has room for " + in.remaining());
        }
        byte[] name = new byte[length];
        in.get(name);
        return new Hello(
                ConnectionKind.values()[kind],
                new String(name, StandardCharsets.UTF_8),
                member,
                channel,
                HelloOptions.decoded(bits, key),
                new Attempt(process, number, answerLimitMillis, nonce));
    }

    /** Returns the same hello of a side that encrypts by a key. */
    Hello encrypted(byte[] fingerprint) {
        HelloOptions with = new HelloOptions(options.secret, options.checksum, TlsWish.TLS, fingerprint);
        return new Hello(kind, job, member, channel, with, attempt);
    }

    /** Returns whether the connection carries nothing that could be read or changed. */
    boolean carriesNothing() {
        return kind == ConnectionKind.ALIVE || kind == ConnectionKind.DATA && channel.lane == ChannelIdentity.BELL;
    }

    @Override
    public String toString() {
        return member.isLauncher()
                ? kind + " connection of the launcher of node " + member.node() + ", job \"" + job + "\""
                : kind + " connection of rank " + member.rank + " of " + member.worldSize + ", job \"" + job + "\"";
    }
}
