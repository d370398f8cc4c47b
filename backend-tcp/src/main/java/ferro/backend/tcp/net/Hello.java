package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import ferro.collectives.link.WireHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The first message of a connecting side. The proofs of both sides cover the full hello. See docs/wire-protocol.md.
 *
 * @param kind      what the connection is for
 * @param job       job id
 * @param member    connecting rank or launcher
 * @param channel   data channel; {@link ChannelIdentity#NONE} for other kinds of connections
 * @param options   options of the connecting side
 * @param attempt   process and number of this attempt
 */
public record Hello(
        ConnectionKind kind,
        String job,
        RankPair member,
        ChannelIdentity channel,
        HelloOptions options,
        AttemptId attempt) {
    static final int VERSION = WireHeader.PROTOCOL_VERSION;
    static final int PREFIX_BYTES = 12;
    public static final int NONCE_BYTES = 32;
    static final int MOST_JOB_BYTES = 64;
    /** Maximum number of bytes of a frame before the end of the handshake. */
    public static final int MOST_BYTES = 512;

    /** First bytes of a hello. Byte 0 has its high bit set, unlike the first byte of a text protocol or TLS hello. */
    private static final byte[] MAGIC = {(byte) 0xF3, 'f', 'e', 'r', 'r', 'o', '\r', '\n'};

    private static final int FIXED_BYTES = 117;
    private static final byte NATIVE_ORDER = (byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 2);

    /** The purpose of a connection. */
    public enum ConnectionKind {
        STORE,
        CONTROL,
        DATA,
        /** A connection that ends after the handshake. The handshake shows that the process of the rank is alive. */
        ALIVE
    }

    /**
     * The connecting rank and the rank to which it connects.
     *
     * @param group     hash of the group's name and generation
     * @param rank      the connecting rank
     * @param worldSize number of ranks
     * @param to        the rank to which the connecting side connects; -1 for a store
     */
    public record RankPair(long group, int rank, int worldSize, int to) {
        /**
         * Creates the pair for a connection of a launcher, with a negative number as rank; {@code session} identifies
         * the launcher.
         */
        public static RankPair ofLauncher(int node, long session) {
            return new RankPair(session, -1 - node, 0, -1);
        }

        /** Returns whether a launcher connects, and not a rank. */
        public boolean isLauncher() {
            return rank < 0;
        }

        /** Returns the node of the connecting launcher. */
        public int node() {
            return -1 - rank;
        }
    }

    /**
     * The identity of a data channel.
     *
     * @param group identity of the group or subgroup
     * @param lane  number of the lane
     * @param epoch epoch of the connection; a connection that replaces a lost connection has a higher epoch
     */
    public record ChannelIdentity(long group, byte lane, int epoch) {
        /** The lane of doorbells, whose bytes have no content and are never encrypted. */
        static final byte BELL = 2;

        public static final ChannelIdentity NONE = new ChannelIdentity(0, (byte) 0, 0);
    }

    /**
     * The identity of one attempt to connect.
     *
     * @param process random number of the connecting process
     * @param number  number of the attempt; each attempt of a process has a higher number than the previous attempt of
     *     the process
     * @param answerLimitMillis how long the connecting side waits for each answer
     * @param nonce   32 fresh random bytes
     */
    public record AttemptId(long process, int number, int answerLimitMillis, byte[] nonce) {
        /** Creates an attempt whose process waits for each answer as long as a listener allows by default. */
        public AttemptId(long process, int number, byte[] nonce) {
            this(process, number, (int) TcpListener.HANDSHAKE_MILLIS, nonce);
        }
    }

    /**
     * The options of the connecting side. The accepting side refuses the connection if these options contradict its own
     * options.
     *
     * @param secret   whether the connecting side has a secret
     * @param checksum whether data is sent with checksums
     * @param tls      whether the connecting side wants TLS
     * @param key      hash of the TLS key of the connecting side; zeros if the connecting side does not want TLS
     */
    public record HelloOptions(boolean secret, boolean checksum, TlsPreference tls, byte[] key) {
        private static final int SECRET = 1;
        private static final int CHECKSUM = 2;
        private static final int TLS = 4;
        private static final int NO_TLS = 8;

        /** Creates the options of a side that sends no TLS key hash in its hello. */
        public HelloOptions(boolean secret, boolean checksum, TlsPreference tls) {
            this(secret, checksum, tls, new byte[TlsIdentity.FINGERPRINT_BYTES]);
        }

        /** Creates the options of a side that accepts connections with TLS and without TLS. */
        public HelloOptions(boolean secret, boolean checksum) {
            this(secret, checksum, TlsPreference.EITHER);
        }

        private byte encoded() {
            int wish = tls == TlsPreference.TLS ? TLS : tls == TlsPreference.PLAIN ? NO_TLS : 0;
            return (byte) ((secret ? SECRET : 0) | (checksum ? CHECKSUM : 0) | wish);
        }

        private static HelloOptions decoded(byte bits, byte[] key) {
            TlsPreference wish = (bits & TLS) != 0
                    ? TlsPreference.TLS
                    : (bits & NO_TLS) != 0 ? TlsPreference.PLAIN : TlsPreference.EITHER;
            return new HelloOptions((bits & SECRET) != 0, (bits & CHECKSUM) != 0, wish, key);
        }
    }

    /** What the connecting side requires or prefers about TLS. */
    enum TlsPreference {
        /** The connecting side requires TLS. The hello contains the hash of the connecting side's key. */
        TLS,
        /** The connecting side prefers a plain connection, but accepts TLS. */
        EITHER,
        /** The connecting side has no TLS ({@code ferro.tls=off}). */
        PLAIN
    }

    /** Returns whether this hello is a later attempt at the same connection by the process that sent {@code former}. */
    public boolean asksAgain(Hello former) {
        return kind == former.kind
                && member.equals(former.member)
                && channel.equals(former.channel)
                && attempt.process == former.attempt.process
                && attempt.number > former.attempt.number;
    }

    /** Returns whether this hello is an earlier attempt of the process that sent {@code later}. */
    public boolean isOlderThan(Hello later) {
        return attempt.process == later.attempt.process && attempt.number < later.attempt.number;
    }

    /** Returns whether the bytes that have arrived can be the beginning of a hello. */
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

    /**
     * Parses the prefix of a hello, and returns how many bytes follow the prefix. The caller has already compared the
     * first bytes of the prefix with the expected constant.
     */
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

    /** Parses the bytes that follow the prefix. */
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
        RankPair member = new RankPair(in.getLong(), in.getInt(), in.getInt(), in.getInt());
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
                new AttemptId(process, number, answerLimitMillis, nonce));
    }

    /** Returns a copy of this hello with the hash of a TLS key. */
    Hello encrypted(byte[] fingerprint) {
        HelloOptions with = new HelloOptions(options.secret, options.checksum, TlsPreference.TLS, fingerprint);
        return new Hello(kind, job, member, channel, with, attempt);
    }

    /** Returns whether the connection carries no content, so that it needs no encryption. */
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
