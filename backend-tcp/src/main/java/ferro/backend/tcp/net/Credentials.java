package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import java.security.SecureRandom;

/**
 * The identity of a process towards the other processes of its job.
 *
 * @param job    job id
 * @param secret secret that the ranks of the job share, or none
 * @param random source of nonces
 * @param tls    rule for which connections are encrypted, and with which key
 */
public record Credentials(String job, Secret secret, SecureRandom random, TlsPolicy tls) {
    /** Creates credentials for which connections to other hosts are encrypted. */
    Credentials(String job, Secret secret, SecureRandom random) {
        this(job, secret, random, TlsPolicy.of(TlsPolicy.TlsMode.AUTO, job, "process"));
    }

    /** Returns a fresh nonce. Each connection has its own nonce, so no proof is valid twice. */
    byte[] nonce() {
        byte[] nonce = new byte[Hello.NONCE_BYTES];
        random.nextBytes(nonce);
        return nonce;
    }

    /**
     * Checks that both sides or neither side has a secret. Without this check, the difference would be reported as a
     * wrong proof.
     */
    static void checkSecrets(boolean accepting, boolean connecting) throws Refusal {
        if (accepting != connecting) {
            throw new Refusal(
                    Code.UNAUTHENTICATED,
                    "the accepting side has " + (accepting ? "a" : "no") + " secret, the connecting side has "
                            + (connecting ? "one" : "none") + ": give both the same FERRO_SECRET_FILE");
        }
    }
}
