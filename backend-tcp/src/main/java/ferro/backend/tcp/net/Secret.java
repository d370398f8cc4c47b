package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The secret that only the processes of a job share, and the proofs made from the secret. This class returns the bytes
 * of a secret only for a job file. No text and no exception contains the bytes.
 */
public final class Secret {
    static final int PROOF_BYTES = 32;

    private final byte[] key;

    private Secret(byte[] key) {
        this.key = key;
    }

    /**
     * Returns the empty secret, for a job without a secret. Proofs then use the empty key, so the handshake has the
     * same messages.
     */
    public static Secret none() {
        return new Secret(new byte[0]);
    }

    /** Creates a secret from bytes, which are copied. */
    public static Secret of(byte[] bytes) {
        return new Secret(bytes.clone());
    }

    /** Reads a secret file. The file's permissions must exclude other users, as for {@link SecretFile#read}. */
    static Secret read(Path file, Where where) {
        try {
            return new Secret(SecretFile.read(file));
        } catch (IOException failure) {
            String why = Files.notExists(file)
                    ? file + " does not exist: ferro secret FILE creates one; ferro run deletes a secret that it "
                            + "generated once all ranks have joined, so a program that joins again needs "
                            + "--secret-file FILE"
                    : failure.getMessage();
            throw refused(where, why, failure);
        }
    }

    /**
     * Returns the secret of a rank: from its context, or else from {@code FERRO_SECRET_FILE}, or else no secret.
     *
     * @throws FerroException UNAUTHENTICATED if the file cannot be read
     */
    public static Secret of(RankContext context, Where where) {
        Optional<byte[]> own = context.secret();
        if (own.isPresent()) {
            return of(own.get());
        }
        Optional<String> file = Settings.SECRET_FILE.find(context);
        return file.isPresent() ? read(Path.of(file.get()), where) : none();
    }

    private static FerroException refused(Where where, String message, IOException cause) {
        return new FerroException(Code.UNAUTHENTICATED, where, "FERRO_SECRET_FILE: " + message, cause);
    }

    /** Returns whether the job has a secret. Without a secret, any process can make a correct proof. */
    public boolean present() {
        return key.length > 0;
    }

    /** Returns the secret for a job file that only the user of the job can read. No other method returns the secret. */
    public String hexForJobFile() {
        return HexFormat.of().formatHex(key);
    }

    /** Returns the maximum number of random bytes that the secret can have. */
    public int randomBytes() {
        return SecretFile.randomBytes(key);
    }

    /** Returns the proof that one side has the secret, over the hello and the challenge. */
    public byte[] proof(Role role, byte[] hello, byte[] challenge) {
        Hmac mac = new Hmac(key);
        mac.update(role.letter);
        mac.update(hello);
        mac.update(challenge);
        return mac.value();
    }

    /** Compares a proof with the correct proof. The time does not depend on the position of the first difference. */
    boolean proves(Role role, byte[] hello, byte[] challenge, byte[] proof) {
        return MessageDigest.isEqual(proof(role, hello, challenge), proof);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Secret secret && MessageDigest.isEqual(key, secret.key);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(key);
    }

    @Override
    public String toString() {
        return present() ? "secret(present)" : "secret(none)";
    }

    /** The side that makes a proof. The role is part of the proof, so a peer cannot send a received proof back. */
    public enum Role {
        CONNECTING('C'),
        ACCEPTING('A');

        private final byte letter;

        Role(char letter) {
            this.letter = (byte) letter;
        }
    }

    /**
     * The HMAC with SHA-256 of a secret. {@code javax.crypto.Mac} returns the same values, but loads all security
     * providers of the JDK, including those of TLS and elliptic curves. Loading the providers would delay the start of
     * each rank.
     *
     * <p>Source: RFC 2104, section 2.
     */
    static final class Hmac {
        private static final String DIGEST = "SHA-256";
        private static final int BLOCK_BYTES = 64;
        private static final int INNER_PAD = 0x36;
        private static final int OUTER_PAD = 0x5c;

        private final MessageDigest digest = digest();
        private final byte[] block;

        /** Creates the HMAC of a key, which may be empty. A key that is longer than a block is hashed. */
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

        /** Returns the HMAC of all bytes so far; called once. */
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
}
