package ferro.backend.tcp.net;

import java.net.Socket;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import javax.net.ssl.X509ExtendedTrustManager;

/** A trust manager that trusts one public key only. A {@link CertificateCheck} checks names, dates and issuers. */
class PinnedTrustManager extends X509ExtendedTrustManager {
    private static final int SHOWN_DIGITS = 16;

    private final byte[] pin;
    private final CertificateCheck judge;
    private int asked;
    private String refused;

    PinnedTrustManager(byte[] pin, CertificateCheck judge) {
        this.pin = pin.clone();
        this.judge = judge;
    }

    /** Returns how often certificates were checked. */
    int asked() {
        return asked;
    }

    /** Returns the reason why certificates were refused; null if no certificates were refused. */
    String refused() {
        return refused;
    }

    /**
     * Compares the key of the leaf with the trusted key, then checks the certificates.
     *
     * @param chain certificates of the peer, leaf first
     */
    void check(X509Certificate[] chain) throws CertificateException {
        asked++;
        try {
            compare(chain);
            judge.check(chain);
        } catch (CertificateException wrong) {
            refused = wrong.getMessage();
            throw wrong;
        }
    }

    private void compare(X509Certificate[] chain) throws CertificateException {
        if (chain.length == 0) {
            throw new CertificateException("the other side has sent " + chain.length + " certificates: need 1");
        }
        byte[] found = TlsIdentity.sha256(chain[0].getPublicKey());
        if (!MessageDigest.isEqual(found, pin)) {
            throw new CertificateException("the key of the other side is " + shown(found) + ", need " + shown(pin)
                    + ", which that side announced in its handshake: another process is between the two " + "sides");
        }
    }

    private static String shown(byte[] hash) {
        return HexFormat.of().formatHex(hash).substring(0, SHOWN_DIGITS) + "...";
    }

    /**
     * Checks the key. Also prevents that the TLS session is resumed later, because the key is not checked when a
     * session is resumed.
     */
    void check(X509Certificate[] chain, SSLEngine engine) throws CertificateException {
        check(chain);
        SSLSession session = engine.getHandshakeSession();
        if (session != null) {
            session.invalidate();
        }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        check(chain, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        check(chain, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        check(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }

    /**
     * A check of the certificates of a peer. The peer's key was already compared with the key whose hash the handshake
     * has exchanged.
     */
    interface CertificateCheck {
        /** A check that accepts all certificates, so that only the key is checked. */
        CertificateCheck OF_KEY_ALONE = chain -> {};

        /**
         * Checks certificates.
         *
         * @param chain certificates of the peer, leaf first, at least one
         * @throws CertificateException naming the refused certificate and the requirement
         */
        void check(X509Certificate[] chain) throws CertificateException;
    }
}
