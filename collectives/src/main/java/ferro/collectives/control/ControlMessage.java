package ferro.collectives.control;

import ferro.FerroException.Code;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * What ranks of a group tell each other beside the data; at most 4 KiB.
 *
 * @param kind     what it means
 * @param sequence operation meant; of an abort the rank that saw it first, from bit 32 on of how many ranks the calls were
 *                 compared, and from bit 56 on for how many milliseconds the teller has known of a failure; of a goodbye the last operation called, of its answer the last one that has ended, of an
 *                 agreement the attempt
 * @param hash     fingerprint; of an agreement the turn between the two ranks, of an abort the operation in which it was seen, of
 *                 a goodbye the messages sent, of its answer those that have come
 * @param code     of a failure, else null
 * @param culprits ranks to blame, the hash of the ranks of a group that is being made, the number of a question, the ranks
 *                 that a status waits for, or the messages that a leaver has taken and the fingerprint of its last call
 * @param text     for people
 */
record ControlMessage(Kind kind, long sequence, long hash, Code code, String culprits, String text) {
    private static final int FIXED_BYTES = 22;
    private static final int KNOWN_BITS = 24;
    private static final int KNOWN_MOST = (1 << KNOWN_BITS) - 1;
    /** Beyond it nothing is asked of the time since a failure; with it no number of an abort is negative. */
    private static final long AGE_MOST_MILLIS = 127;

    /** What a message means. */
    enum Kind {
        /** The group has failed. */
        ABORT,
        /** The sender leaves in good order; with its last collective, and the messages between it and the receiver. */
        GOODBYE,
        /** Where are you, have you called this operation, and was it the same? */
        QUERY,
        /** There I am, and that was my call. */
        STATUS,
        /** I am making a group of these ranks. */
        AGREE,
        /** I have given up making it. */
        CANCEL,
        /** That was my last call; a sample in passing, for which no answer is due. */
        CALLED,
        /** I know that you leave; the last collective that has ended here, and how many of your messages are here. */
        HEARD
    }

    static ControlMessage abort(Failure failure, long ageNanos) {
        long age = Math.max(0, Math.min(AGE_MOST_MILLIS, TimeUnit.NANOSECONDS.toMillis(ageNanos)));
        long known = Math.min(KNOWN_MOST, failure.known());
        long origin = age << Integer.SIZE + KNOWN_BITS | known << Integer.SIZE | failure.origin();
        return new ControlMessage(
                Kind.ABORT, origin, failure.sequence(), failure.code(), failure.culprits(), failure.text());
    }

    /** Returns the failure that an abort tells of. */
    Failure failure() {
        int known = (int) (sequence >>> Integer.SIZE) & KNOWN_MOST;
        return new Failure(codeOrAborted(), (int) sequence, hash, culprits, text, null, known);
    }

    /** Returns for how long the sender of an abort has known of a failure, as far as it matters. */
    long ageNanos() {
        return TimeUnit.MILLISECONDS.toNanos(sequence >>> Integer.SIZE + KNOWN_BITS);
    }

    Code codeOrAborted() {
        return code == null ? Code.ABORTED : code;
    }

    /**
     * Returns this message, if those that it blames are ranks of the group that it came for.
     *
     * @throws IllegalArgumentException if it makes no sense there
     */
    ControlMessage checked(int worldSize) {
        boolean blames = kind == Kind.ABORT || kind == Kind.CANCEL;
        if (blames && !Names.isList(culprits, worldSize)) {
            throw new IllegalArgumentException(
                    kind + " that blames \"" + culprits + "\", need ranks below " + worldSize);
        }
        if (kind == Kind.ABORT && ((int) sequence < 0 || (int) sequence >= worldSize || sequence < 0)) {
            throw new IllegalArgumentException(
                    kind + " first seen by rank " + sequence + ", need a rank below " + worldSize);
        }
        return this;
    }

    static ControlMessage goodbye(Leaves.Goodbye said) {
        String more = said.taken() + " " + Long.toHexString(said.fingerprint());
        return new ControlMessage(Kind.GOODBYE, said.lastSequence(), said.sent(), null, more, said.call());
    }

    /** Returns what a goodbye says. */
    Leaves.Goodbye goodbye() {
        String[] more = culprits.split(" ", 2);
        if (more.length < 2) {
            throw new IllegalArgumentException(kind + " with \"" + culprits + "\", need two numbers");
        }
        return new Leaves.Goodbye(sequence, hash, Long.parseLong(more[0]), Long.parseUnsignedLong(more[1], 16), text);
    }

    static ControlMessage heard(long endedSequence, long arrived) {
        return new ControlMessage(Kind.HEARD, endedSequence, arrived, null, "", "");
    }

    /** Asks about a call, or, without one, where the rank stands. */
    static ControlMessage query(long ask, CallHeader call) {
        return call == null
                ? new ControlMessage(Kind.QUERY, 0, 0, null, Long.toString(ask), "")
                : new ControlMessage(
                        Kind.QUERY, call.sequence(), call.fingerprint(), null, Long.toString(ask), call.text());
    }

    static ControlMessage called(CallHeader call) {
        return new ControlMessage(Kind.CALLED, call.sequence(), call.fingerprint(), null, "", call.text());
    }

    static ControlMessage agree(long attempt, long turn, String ranks) {
        // the list may be too long to travel whole: its hash is what is compared
        return new ControlMessage(Kind.AGREE, attempt, turn, null, Long.toHexString(Hashing.of(ranks)), ranks);
    }

    static ControlMessage cancel(long turn, Code code, String culprits, String why) {
        return new ControlMessage(Kind.CANCEL, 0, turn, code, culprits, why);
    }

    ByteBuffer encode() {
        byte[] blame = Failure.wholeNumbers(culprits).getBytes(StandardCharsets.UTF_8);
        byte[] words = Failure.cut(text).getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(FIXED_BYTES + blame.length + words.length);
        bytes.put((byte) kind.ordinal()).put((byte) (code == null ? -1 : code.ordinal()));
        bytes.putLong(sequence).putLong(hash);
        bytes.putShort((short) blame.length).put(blame);
        bytes.putShort((short) words.length).put(words);
        return bytes.flip();
    }

    /**
     * Reads a message.
     *
     * @throws IllegalArgumentException if it makes no sense
     */
    static ControlMessage decode(ByteBuffer bytes) {
        ByteBuffer in = bytes.duplicate();
        if (in.remaining() < FIXED_BYTES) {
            throw new IllegalArgumentException(
                    "control message of " + in.remaining() + " bytes, need at least " + FIXED_BYTES);
        }
        int kind = in.get();
        int code = in.get();
        if (kind < 0 || kind >= Kind.values().length || code < -1 || code >= Code.values().length) {
            throw new IllegalArgumentException("control message of unknown kind " + kind + " or code " + code);
        }
        long sequence = in.getLong();
        long hash = in.getLong();
        String culprits = text(in);
        Code failed = code < 0 ? null : Code.values()[code];
        return new ControlMessage(Kind.values()[kind], sequence, hash, failed, culprits, text(in));
    }

    private static String text(ByteBuffer in) {
        int length = in.remaining() < Short.BYTES ? -1 : in.getShort();
        if (length < 0 || length > in.remaining()) {
            throw new IllegalArgumentException(
                    "control message with a text of " + length + " bytes, of which " + in.remaining() + " are there");
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
