package ferro.spark.rendezvous;

import ferro.spark.internals.SparkApiAccess;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of one job. The secret is HKDF-SHA256 of Spark's secret, with the id of the job as the info parameter.
 * Driver and executors each derive the secret, so it is never sent.
 *
 * <p>Source: RFC 5869, with one output block.
 */
public final class JobSecret {
    private static final String MAC = "HmacSHA256";
    private static final byte[] SALT = "ferro-spark".getBytes(StandardCharsets.US_ASCII);

    private JobSecret() {}

    /** Returns the secret of a job; empty if {@code spark.authenticate} is off. */
    public static Optional<byte[]> of(String jobId) {
        return SparkApiAccess.secret().map(secret -> derived(secret.getBytes(StandardCharsets.UTF_8), SALT, jobId));
    }

    /** Returns the first 32 bytes of HKDF output. The method extracts a key, then expands the key. */
    static byte[] derived(byte[] key, byte[] salt, String info) {
        byte[] extracted = mac(salt, key);
        byte[] text = info.getBytes(StandardCharsets.UTF_8);
        byte[] block = new byte[text.length + 1];
        System.arraycopy(text, 0, block, 0, text.length);
        block[text.length] = 1;
        return mac(extracted, block);
    }

    private static byte[] mac(byte[] key, byte[] text) {
        try {
            Mac mac = Mac.getInstance(MAC);
            mac.init(new SecretKeySpec(key, MAC));
            return mac.doFinal(text);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this JVM has no " + MAC + ": " + missing, missing);
        }
    }
}
