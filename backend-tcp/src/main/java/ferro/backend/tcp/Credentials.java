package ferro.backend.tcp;

import ferro.FerroException.Code;
import java.security.SecureRandom;

/**
 * What a process shows to others of its job.
 *
 * @param job    job id
 * @param secret shared by the ranks of the job, or none
 * @param random for nonces
 */
record Credentials(String job, Secret secret, SecureRandom random) {
    /** Fresh for every connection, so that no proof can be used twice. */
    byte[] nonce() {
        byte[] nonce = new byte[Hello.NONCE_BYTES];
        random.nextBytes(nonce);
        return nonce;
    }

    /** Both sides have a secret, or neither; said before any proof, because a proof could only say that it is wrong. */
    static void checkSecrets(boolean accepting, boolean connecting) throws Refusal {
        if (accepting != connecting) {
            throw new Refusal(
                    Code.UNAUTHENTICATED,
                    "the accepting side has " + (accepting ? "a" : "no") + " secret, the connecting side has "
                            + (connecting ? "one" : "none") + ": give both the same FERRO_SECRET_FILE");
        }
    }
}
