package ferro.backend.tcp.tls;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;

/** Judges the certificates of the other side of a connection, whose key was compared with the one that it named before. */
interface PeerJudge {
    /** Judges nothing but the key. */
    PeerJudge OF_KEY_ALONE = chain -> {};

    /**
     * Judges certificates.
     *
     * @param chain certificates of the other side, leaf first, at least one
     * @throws CertificateException saying which certificate is refused, and what is needed
     */
    void check(X509Certificate[] chain) throws CertificateException;
}
