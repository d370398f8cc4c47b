package ferro.backend.tcp.net;

import java.nio.ByteBuffer;

/** One side of a handshake, without sockets. A side consumes exact numbers of bytes and returns bytes to send. */
public interface Handshake {
    /** Length of the head of every frame after the hello: type and length. */
    int HEAD_BYTES = 3;

    /** Frame of the accepting side: its nonce and whether it has a secret. */
    byte CHALLENGE = 1;
    /** Frame of the accepting side: a refusal, with code and text. */
    byte REFUSAL = 2;
    /** Frame of either side: its proof. */
    byte PROOF = 3;
    /** Empty frame of the connecting side, which confirms the connection. Without TLS, this is the last frame. */
    byte CONFIRM = 4;

    /** Returns the bytes that this side sends first. */
    byte[] opening();

    /** Returns the exact number of bytes that this side needs next; 0 at the end. */
    int wanted();

    /** Returns whether the received bytes can be valid. If not, the other side does not use ferro's protocol. */
    boolean plausible(byte[] bytes, int count);

    /**
     * Consumes the wanted bytes.
     *
     * @return bytes to send, may be empty
     * @throws Refusal if the handshake cannot continue; the accepting side sends the refusal to the other side
     */
    byte[] take(ByteBuffer bytes) throws Refusal;

    /** Returns whether this side has admitted the other side, but has not received a confirmation yet. */
    boolean awaitsConfirmation();

    /** Returns the TLS session that follows this handshake; null if the connection stays plain. */
    TlsSession tls();

    /** Returns a frame of the handshake, which has a type, the length of the body in two bytes, and the body. */
    static byte[] frame(byte type, byte[] body) {
        return ByteBuffer.allocate(HEAD_BYTES + body.length)
                .put(type)
                .putShort((short) body.length)
                .put(body)
                .array();
    }
}
