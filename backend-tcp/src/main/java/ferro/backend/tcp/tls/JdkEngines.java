package ferro.backend.tcp.tls;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;

/** Engines of the Java runtime. They change their keys by themselves after 2^37 bytes. */
final class JdkEngines implements TlsEngines {
    @Override
    public SSLEngine engine(PrivateKey key, X509Certificate[] chain, PinnedTrust trust, boolean connecting)
            throws GeneralSecurityException {
        // a context of its own for each connection: no session of another one can be resumed
        SSLContext context = SSLContext.getInstance(PROTOCOL);
        context.init(new KeyManager[] {new OneKey(key, chain)}, new TrustManager[] {trust}, null);
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(connecting);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(new String[] {PROTOCOL});
        parameters.setCipherSuites(new String[] {CIPHER});
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** After 2^37 bytes. */
    @Override
    public boolean renewKeys() {
        return true;
    }

    /** Arrays: of other memory the engine makes copies. */
    @Override
    public ByteBuffer memory(int bytes) {
        return ByteBuffer.allocate(bytes);
    }

    @Override
    public void free(SSLEngine engine) {
        // the garbage collector does
    }
}
