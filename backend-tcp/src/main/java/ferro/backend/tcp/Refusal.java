package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** A no with its reason, said to the other side before the connection is closed; becomes a FerroException there. */
final class Refusal extends Exception {
    static final int MOST_TEXT_BYTES = 400;

    private static final long serialVersionUID = 1L;
    /** The place in this list plus one is the number on the wire. */
    private static final List<Code> CODES =
            List.of(Code.PROTOCOL, Code.UNAUTHENTICATED, Code.RENDEZVOUS, Code.RESOURCE, Code.PEER_LOST);

    private final Code code;

    Refusal(Code code, String text) {
        super(text, null, false, false);
        this.code = code;
    }

    Code code() {
        return code;
    }

    byte[] encoded() {
        byte[] text = getMessage().getBytes(StandardCharsets.UTF_8);
        byte[] cut = Arrays.copyOf(text, Math.min(text.length, MOST_TEXT_BYTES));
        return ByteBuffer.allocate(1 + cut.length)
                .put((byte) (CODES.indexOf(code) + 1))
                .put(cut)
                .array();
    }

    static Refusal decoded(ByteBuffer in) {
        if (!in.hasRemaining()) {
            return new Refusal(Code.PROTOCOL, "a refusal of 0 bytes: need at least 1");
        }
        int number = in.get() - 1;
        Code code = number >= 0 && number < CODES.size() ? CODES.get(number) : Code.PROTOCOL;
        return new Refusal(code, printable(StandardCharsets.UTF_8.decode(in).toString()));
    }

    /** Text of another process is shown without control characters, so that it cannot write lines of a log of its own. */
    static String printable(String text) {
        String cut = text.length() <= MOST_TEXT_BYTES ? text : text.substring(0, MOST_TEXT_BYTES);
        return cut.replaceAll("\\p{Cntrl}", "?");
    }

    /** The same as the failure of this side. */
    FerroException failure(Where where, String what) {
        return new FerroException(code, where, what + ": " + getMessage(), this);
    }
}
