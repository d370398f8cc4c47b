package ferro.backend.tcp.tls;

import io.netty.handler.ssl.OpenSslCertificateException;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Has BoringSSL tell the other side that its certificate was refused: of another exception it would make an internal error. */
final class OpenSslTrust extends X509ExtendedTrustManager {
    /** X509_V_ERR_CERT_REJECTED of OpenSSL's x509_vfy.h; the alert for it is "bad certificate". */
    private static final int REJECTED = 28;

    private final PinnedTrust trust;

    OpenSslTrust(PinnedTrust trust) {
        this.trust = trust;
    }

    private void check(X509Certificate[] chain) throws CertificateException {
        try {
            trust.check(chain);
        } catch (CertificateException refused) {
            throw new OpenSslCertificateException(refused.getMessage(), refused, REJECTED);
        }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        check(chain);
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
        return trust.getAcceptedIssuers();
    }
}
