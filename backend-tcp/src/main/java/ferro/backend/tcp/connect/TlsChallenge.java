package ferro.backend.tcp.connect;

import ferro.FerroException.Code;
import ferro.backend.tcp.tls.TlsIdentity;
import java.nio.ByteBuffer;

/**
 * What the accepting side answers to a hello.
 *
 * @param nonce  32 fresh random bytes
 * @param secret whether it has a secret
 * @param tls    whether the connection goes on encrypted
 * @param key    hash of its TLS key; zeros without TLS
 */
record TlsChallenge(byte[] nonce, boolean secret, boolean tls, byte[] key) {
    static final int BYTES = Hello.NONCE_BYTES + 1 + TlsIdentity.FINGERPRINT_BYTES;

    private static final int SECRET = 1;
    private static final int TLS = 2;

    byte[] encoded() {
        return ByteBuffer.allocate(BYTES)
                .put(nonce)
                .put((byte) ((secret ? SECRET : 0) | (tls ? TLS : 0)))
                .put(key)
                .array();
    }

    static TlsChallenge decoded(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        byte[] nonce = new byte[Hello.NONCE_BYTES];
        in.get(nonce);
        byte bits = in.get();
        byte[] key = new byte[TlsIdentity.FINGERPRINT_BYTES];
        in.get(key);
        return new TlsChallenge(nonce, (bits & SECRET) != 0, (bits & TLS) != 0, key);
    }

    /**
     * Decides as the accepting side: a connection is plain only if both sides want it so.
     *
     * @throws Refusal RENDEZVOUS if one side has no TLS and the other needs it
     */
    static boolean wanted(TlsPolicy own, Hello hello, boolean local) throws Refusal {
        Hello.TlsWish wish = hello.options().tls();
        if (wish == Hello.TlsWish.TLS && own.use() == TlsPolicy.TlsUse.OFF) {
            throw differs("off", "on");
        }
        boolean follows = own.use() == TlsPolicy.TlsUse.FOLLOW && wish == Hello.TlsWish.PLAIN;
        boolean encrypts = wish == Hello.TlsWish.TLS || own.wants(hello.carriesNothing(), local) && !follows;
        if (encrypts && wish == Hello.TlsWish.PLAIN) {
            throw differs("on", "off");
        }
        return encrypts;
    }

    /** Returns the refusal of two sides, one of which has no TLS. */
    static Refusal differs(String accepting, String connecting) {
        return new Refusal(
                Code.RENDEZVOUS,
                "TLS is " + accepting + " at the accepting side of this connection and " + connecting
                        + " at the connecting side: give all ranks the same ferro.tls");
    }
}
