package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What all ranks of a job know and strangers do not, and the proofs made of it. Its bytes leave this class for a job file only:
 * no text and no exception shows them.
 */
final class Secret {
    static final int PROOF_BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";
    /** SecretKeySpec refuses an empty key; HMAC pads keys with zeros, so one zero byte is the same key as none. */
    private static final byte[] EMPTY_KEY = {0};

    private final byte[] key;

    private Secret(byte[] key) {
        this.key = key;
    }

    /** No secret: proofs are made with the empty key, so that the dialogue is the same. */
    static Secret none() {
        return new Secret(new byte[0]);
    }

    static Secret of(byte[] bytes) {
        return new Secret(bytes.clone());
    }

    /**
     * Reads a file that only those for whom it is meant can open.
     *
     * @param launchers whether ferro's launcher has named it, which may have made and removed it
     */
    static Secret read(Path file, boolean launchers, Where where) {
        try {
            return new Secret(SecretFile.read(file));
        } catch (IOException failure) {
            String why = launchers && Files.notExists(file)
                    ? file
                            + " is not there; ferro run removes the secret that it makes itself once all ranks have joined:"
                            + " a program that joins again needs --secret-file FILE (ferro secret FILE makes one)"
                    : failure.getMessage();
            throw refused(where, why, failure);
        }
    }

    private static FerroException refused(Where where, String message, IOException cause) {
        return new FerroException(Code.UNAUTHENTICATED, where, "FERRO_SECRET_FILE: " + message, cause);
    }

    boolean present() {
        return key.length > 0;
    }

    /** The one way out: to the ranks of the job, by a file that only their user can read. */
    String hexForJobFile() {
        return HexFormat.of().formatHex(key);
    }

    /** How many random bytes it can have at most. */
    int randomBytes() {
        return SecretFile.randomBytes(key);
    }

    /** The proof of one side over everything said so far. */
    byte[] proof(Role role, byte[] hello, byte[] challenge) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(present() ? key : EMPTY_KEY, ALGORITHM));
            mac.update(role.letter);
            mac.update(hello);
            mac.update(challenge);
            return mac.doFinal();
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java runtime has no " + ALGORITHM, missing);
        }
    }

    /** Compares in a time that does not depend on where two proofs differ. */
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

    /** Who proves; in the proof, so that one side's cannot be sent back as the other's. */
    enum Role {
        CONNECTING('C'),
        ACCEPTING('A');

        private final byte letter;

        Role(char letter) {
            this.letter = (byte) letter;
        }
    }
}
