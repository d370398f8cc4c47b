package ferro.backend.tcp.tls;

import java.net.Socket;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import javax.net.ssl.X509ExtendedTrustManager;

/** Trusts exactly one public key. Names, dates and issuers of the certificate around it are not judged. */
final class PinnedTrust extends X509ExtendedTrustManager {
    private static final int SHOWN_DIGITS = 16;

    private final byte[] pin;
    private int asked;
    private boolean refused;

    PinnedTrust(byte[] pin) {
        this.pin = pin.clone();
    }

    /** Returns how often a certificate was checked. */
    int asked() {
        return asked;
    }

    /** Returns whether a key was refused. */
    boolean refused() {
        return refused;
    }

    /** Compares the key of a certificate with the one that is trusted. */
    void check(X509Certificate certificate) throws CertificateException {
        asked++;
        byte[] found = TlsIdentity.sha256(certificate.getPublicKey());
        if (!MessageDigest.isEqual(found, pin)) {
            refused = true;
            throw new CertificateException("the key of the other side is " + shown(found) + ", need " + shown(pin)
                    + ", which it named in its handshake: another process is between the two");
        }
    }

    private static String shown(byte[] hash) {
        return HexFormat.of().formatHex(hash).substring(0, SHOWN_DIGITS) + "...";
    }

    private void check(X509Certificate[] chain) throws CertificateException {
        if (chain.length == 0) {
            throw new CertificateException("the other side has sent " + chain.length + " certificates: need 1");
        }
        check(chain[0]);
    }

    /** Checks the key, and keeps the session from being resumed, because a resumed session checks no key. */
    private void check(X509Certificate[] chain, SSLEngine engine) throws CertificateException {
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
}
