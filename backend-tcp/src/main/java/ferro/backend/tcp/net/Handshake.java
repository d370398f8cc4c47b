package ferro.backend.tcp.net;

import java.nio.ByteBuffer;

/** One side of a handshake, without sockets. A side consumes exact numbers of bytes and returns bytes to send. */
public interface Handshake {
    /** Length in bytes of the head of every frame after the hello. The head has the type and the length of the body. */
    int HEAD_BYTES = 3;

    /** Frame of the accepting side that contains its nonce, and whether the side has a secret. */
    byte CHALLENGE = 1;
    /** Frame of the accepting side: a refusal, with code and text. */
    byte REFUSAL = 2;
    /** Frame of either side: its proof. */
    byte PROOF = 3;
    /** Empty frame of the connecting side, which confirms the connection. Without TLS, this is the last frame. */
    byte CONFIRM = 4;

    /** Returns the bytes that this side sends first. */
    byte[] opening();

    /** Returns the exact number of bytes that this side needs next; 0 at the end of the handshake. */
    int wanted();

    /**
     * Returns whether the received bytes can be valid. Invalid bytes show that the peer does not use ferro's protocol.
     */
    boolean plausible(byte[] bytes, int count);

    /**
     * Consumes the wanted bytes.
     *
     * @return bytes to send, may be empty
     * @throws Refusal if the handshake cannot continue; the accepting side sends the refusal to the peer
     */
    byte[] take(ByteBuffer bytes) throws Refusal;

    /** Returns whether this side has admitted the peer, but has not received a confirmation yet. */
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
