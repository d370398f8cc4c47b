package ferro.backend.tcp.net;

import java.nio.ByteBuffer;

/** One side of a handshake without sockets: exact bytes in, bytes out. */
public interface Handshake {
    /** Head of every frame after the hello: type and length. */
    int HEAD_BYTES = 3;

    /** From the accepting side: its nonce and whether it has a secret. */
    byte CHALLENGE = 1;
    /** From the accepting side: a refusal, with code and text. */
    byte REFUSAL = 2;
    /** From either side: its proof. */
    byte PROOF = 3;
    /** From the connecting side: it takes the connection. Empty; the last frame of a handshake without TLS. */
    byte CONFIRM = 4;

    /** Returns the bytes that this side sends first. */
    byte[] opening();

    /** Returns how many bytes this side needs next, exactly; 0 when it is done. */
    int wanted();

    /** Returns whether the part of the wanted bytes that has come can be right; if not, the other side is a stranger. */
    boolean plausible(byte[] bytes, int count);

    /**
     * Takes the wanted bytes.
     *
     * @return bytes to send, may be empty
     * @throws Refusal if the handshake cannot go on; the accepting side sends the refusal to the other side
     */
    byte[] take(ByteBuffer bytes) throws Refusal;

    /** Returns whether this side has let the other side in, which has not confirmed the connection yet. */
    boolean awaitsConfirmation();

    /** Returns the TLS session that follows once this side is done; null if the connection stays plain. */
    TlsSession tls();

    /** Returns a message of the handshake: type, length of the body in two bytes, body. */
    static byte[] frame(byte type, byte[] body) {
        return ByteBuffer.allocate(HEAD_BYTES + body.length)
                .put(type)
                .putShort((short) body.length)
                .put(body)
                .array();
    }
}
