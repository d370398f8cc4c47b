package ferro.backend.tcp;

import java.nio.ByteBuffer;

/** One side of a handshake without sockets: exact bytes in, bytes out. */
interface Handshake {
    /** Head of every frame after the hello: type and length. */
    int HEAD_BYTES = 3;

    /** From the accepting side: its nonce and whether it has a secret. */
    byte CHALLENGE = 1;
    /** From the accepting side: no, with code and text. */
    byte REFUSAL = 2;
    /** From either side: its proof. */
    byte PROOF = 3;

    /** What the side says first. */
    byte[] opening();

    /** How many bytes it needs next, exactly; 0 when it is done. */
    int wanted();

    /** Whether what came so far of the bytes wanted can be right; else the other side is a stranger. */
    boolean plausible(byte[] bytes, int count);

    /**
     * Takes the bytes wanted.
     *
     * @return bytes to say, may be empty
     * @throws Refusal if it cannot go on; the accepting side says so to the other
     */
    byte[] take(ByteBuffer bytes) throws Refusal;

    static byte[] frame(byte type, byte[] body) {
        return ByteBuffer.allocate(HEAD_BYTES + body.length)
                .put(type)
                .putShort((short) body.length)
                .put(body)
                .array();
    }
}
