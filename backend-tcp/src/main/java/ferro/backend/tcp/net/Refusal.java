package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * A refusal of a connection with its reason, which is sent before the connection is closed. The refused side throws a
 * FerroException.
 */
public final class Refusal extends Exception {
    static final int MOST_TEXT_BYTES = 400;
    /** Control characters, format characters, and separators of lines and paragraphs, in the categories of Unicode. */
    private static final String UNPRINTABLE = "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]";

    private static final long serialVersionUID = 1L;
    /** The codes on the wire. The number of a code on the wire is its index in this list plus one. */
    private static final List<Code> CODES = List.of(
            Code.PROTOCOL, Code.UNAUTHENTICATED, Code.RENDEZVOUS, Code.RESOURCE, Code.PEER_LOST, Code.TIMED_OUT);

    private final Code code;

    /** Creates a refusal with a reason that both sides can read. */
    public Refusal(Code code, String text) {
        super(text, null, false, false);
        this.code = code;
    }

    /** Returns the code of the failure on the peer. */
    public Code code() {
        return code;
    }

    /**
     * Returns the refusal of a connection attempt that comes too late. Another attempt of the same side may be
     * admitted.
     */
    public static Refusal late(String text) {
        return new Refusal(Code.TIMED_OUT, text);
    }

    /** Returns whether only this connection attempt is refused, so that another attempt may be admitted. */
    boolean isLate() {
        return code == Code.TIMED_OUT;
    }

    /** Returns the bytes on the wire. */
    public byte[] encoded() {
        byte[] text = getMessage().getBytes(StandardCharsets.UTF_8);
        byte[] cut = Arrays.copyOf(text, Math.min(text.length, MOST_TEXT_BYTES));
        return ByteBuffer.allocate(1 + cut.length)
                .put((byte) (CODES.indexOf(code) + 1))
                .put(cut)
                .array();
    }

    /** Parses the bytes of {@link #encoded}. */
    public static Refusal decoded(ByteBuffer in) {
        if (!in.hasRemaining()) {
            return new Refusal(Code.PROTOCOL, "a refusal of 0 bytes: need at least 1");
        }
        int number = in.get() - 1;
        Code code = number >= 0 && number < CODES.size() ? CODES.get(number) : Code.PROTOCOL;
        return new Refusal(code, printable(StandardCharsets.UTF_8.decode(in).toString()));
    }

    /**
     * Returns a text of another process with {@code ?} in place of control characters (7 and 8 bits), characters that
     * change the writing direction, and line separators. Therefore the text of another process cannot forge lines of a
     * log.
     */
    static String printable(String text) {
        String cut = text.length() <= MOST_TEXT_BYTES ? text : text.substring(0, MOST_TEXT_BYTES);
        return cut.replaceAll(UNPRINTABLE, "?");
    }

    /** Returns the failure that this side throws for the refusal. */
    public FerroException failure(Where where, String what) {
        return new FerroException(code, where, what + ": " + getMessage(), this);
    }
}
