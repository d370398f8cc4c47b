package ferro.collectives.control;

import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What ranks of a group tell each other beside the data; at most 4 KiB.
 *
 * @param kind     what it means
 * @param sequence operation meant; of an abort the rank that saw it first, of a goodbye the last operation called, of
 *                 an agreement the attempt
 * @param hash     fingerprint; of an agreement the turn between the two ranks, of an abort the operation in which it was seen
 * @param code     of a failure, else null
 * @param culprits ranks to blame, or the hash of the ranks of a group that is being made
 * @param text     for people
 */
record ControlMessage(Kind kind, long sequence, long hash, Code code, String culprits, String text) {
    private static final int FIXED_BYTES = 22;
    private static final int CULPRITS_MOST = 1024;
    private static final int TEXT_MOST = 2800;

    /** What a message means. */
    enum Kind {
        /** The group has failed. */
        ABORT,
        /** The sender has closed its end in good order. */
        GOODBYE,
        /** Have you called this operation, and was it the same? */
        QUERY,
        /** I have called it, and it was the same. */
        HERE,
        /** I am making a group of these ranks. */
        AGREE,
        /** I have given up making it. */
        CANCEL
    }

    static ControlMessage abort(Failure failure) {
        return new ControlMessage(
                Kind.ABORT, failure.origin(), failure.sequence(), failure.code(), failure.culprits(), failure.text());
    }

    static ControlMessage goodbye(long lastSequence) {
        return new ControlMessage(Kind.GOODBYE, lastSequence, 0, null, "", "");
    }

    static ControlMessage query(long sequence, long fingerprint, String text) {
        return new ControlMessage(Kind.QUERY, sequence, fingerprint, null, "", text);
    }

    static ControlMessage here(long sequence) {
        return new ControlMessage(Kind.HERE, sequence, 0, null, "", "");
    }

    static ControlMessage agree(long attempt, long turn, String ranks) {
        // the list may be too long to travel whole: its hash is what is compared
        return new ControlMessage(Kind.AGREE, attempt, turn, null, Long.toHexString(Hashing.of(ranks)), ranks);
    }

    static ControlMessage cancel(long turn, Code code, String culprits, String why) {
        return new ControlMessage(Kind.CANCEL, 0, turn, code, culprits, why);
    }

    ByteBuffer encode() {
        byte[] blame = wholeNumbers(culprits).getBytes(StandardCharsets.UTF_8);
        byte[] words = cut(text, TEXT_MOST);
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

    /** Cuts a list of ranks between two of them: half a number would be another rank. */
    private static String wholeNumbers(String ranks) {
        return ranks.length() <= CULPRITS_MOST ? ranks : ranks.substring(0, ranks.lastIndexOf(',', CULPRITS_MOST));
    }

    private static byte[] cut(String text, int most) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= most ? bytes : Arrays.copyOf(bytes, most);
    }
}
