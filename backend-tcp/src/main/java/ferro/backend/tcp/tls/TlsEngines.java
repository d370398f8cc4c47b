package ferro.backend.tcp.tls;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/** Makes engines that speak TLS 1.3, resume no session, and ask for the certificate of the other side. */
interface TlsEngines {
    /** The one version of TLS. */
    String PROTOCOL = "TLSv1.3";

    /** The cipher, as far as it can be chosen. */
    String CIPHER = "TLS_AES_128_GCM_SHA256";

    /**
     * Makes the engine of one connection, before its handshake.
     *
     * @param key        private key of this side
     * @param chain      its certificates, leaf first
     * @param trust      judges those of the other side
     * @param connecting whether this side has connected, and so speaks first
     */
    SSLEngine engine(PrivateKey key, X509Certificate[] chain, PinnedTrust trust, boolean connecting)
            throws GeneralSecurityException, SSLException;

    /** Returns whether engines change their keys by themselves before these have encrypted too much. */
    boolean renewKeys();

    /** Returns memory of the kind that engines are fastest with. */
    ByteBuffer memory(int bytes);

    /** Frees what an engine holds outside the heap; nothing may be done with it afterwards. */
    void free(SSLEngine engine);
}
