package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What all ranks of a job know and strangers do not, and the proofs made of it. Its bytes never leave this class: no text
 * and no exception shows them.
 */
final class Secret {
    static final int PROOF_BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";
    private static final int MOST_BYTES = 4096;
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

    /** Reads a file that only its owner can open; white space at its end is not part of the secret. */
    static Secret read(Path file, Where where) {
        try {
            Set<PosixFilePermission> mode = EnumSet.noneOf(PosixFilePermission.class);
            if (Files.getFileStore(file).supportsFileAttributeView("posix")) {
                mode.addAll(Files.getPosixFilePermissions(file));
            }
            mode.removeAll(PosixFilePermissions.fromString("rwx------"));
            if (!mode.isEmpty()) {
                throw refused(where, file + " can be opened by others (" + mode + "): need mode 0600", null);
            }
            if (Files.size(file) > MOST_BYTES) {
                throw refused(where, file + " has " + Files.size(file) + " bytes: need at most " + MOST_BYTES, null);
            }
            byte[] bytes = stripped(Files.readAllBytes(file));
            if (bytes.length == 0) {
                throw refused(where, file + " has 0 bytes: need at least 1", null);
            }
            return new Secret(bytes);
        } catch (IOException failure) {
            throw refused(where, file + " cannot be read (" + failure + "): need a file of mode 0600", failure);
        }
    }

    private static byte[] stripped(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] <= ' ' && bytes[end - 1] >= 0) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    private static FerroException refused(Where where, String message, IOException cause) {
        return new FerroException(Code.UNAUTHENTICATED, where, "FERRO_SECRET_FILE: " + message, cause);
    }

    boolean present() {
        return key.length > 0;
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
