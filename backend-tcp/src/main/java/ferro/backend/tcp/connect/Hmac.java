package ferro.backend.tcp.connect;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * HMAC with SHA-256. {@code javax.crypto.Mac} returns the same values, but its search for a provider loads all security
 * providers of the JDK, among them those of TLS and of elliptic curves, which costs each rank time when it starts.
 *
 * <p>Source: RFC 2104, section 2.
 */
final class Hmac {
    private static final String DIGEST = "SHA-256";
    private static final int BLOCK_BYTES = 64;
    private static final int INNER_PAD = 0x36;
    private static final int OUTER_PAD = 0x5c;

    private final MessageDigest digest = digest();
    private final byte[] block;

    /** Makes the code of a key, which may be empty; a key longer than a block is hashed. */
    Hmac(byte[] key) {
        block = Arrays.copyOf(key.length > BLOCK_BYTES ? digest.digest(key) : key, BLOCK_BYTES);
        updateKey(INNER_PAD);
    }

    private void updateKey(int pad) {
        for (byte part : block) {
            digest.update((byte) (part ^ pad));
        }
    }

    void update(byte one) {
        digest.update(one);
    }

    void update(byte[] bytes) {
        digest.update(bytes);
    }

    /** Returns the code of all bytes so far; called once. */
    byte[] value() {
        byte[] inner = digest.digest();
        updateKey(OUTER_PAD);
        Arrays.fill(block, (byte) 0);
        return digest.digest(inner);
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance(DIGEST);
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new IllegalStateException("this JDK has no " + DIGEST, everyJdkHasIt);
        }
    }
}
