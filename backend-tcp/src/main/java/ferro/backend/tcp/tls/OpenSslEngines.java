package ferro.backend.tcp.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;

/**
 * Engines of Netty over BoringSSL. They hold memory outside the heap, and never change their keys by themselves. BoringSSL lets
 * nobody choose the ciphers of TLS 1.3; its own first choice is {@link #CIPHER} where the processor has AES.
 */
final class OpenSslEngines implements TlsEngines {
    /**
     * Returns why there are none; null if there are.
     *
     * @throws LinkageError if the classes of Netty that are there are of another version, or absent
     */
    static Throwable missing() {
        Throwable why = OpenSsl.unavailabilityCause();
        if (why == null) {
            chosen(SslContextBuilder.forClient());
        }
        return why;
    }

    private static SslContextBuilder chosen(SslContextBuilder builder) {
        return builder.sslProvider(SslProvider.OPENSSL_REFCNT)
                .protocols(PROTOCOL)
                .endpointIdentificationAlgorithm(null)
                .option(OpenSslContextOption.USE_TASKS, false);
    }

    @Override
    public SSLEngine engine(PrivateKey key, X509Certificate[] chain, PinnedTrust trust, boolean connecting)
            throws SSLException {
        // of a key and its chain Netty would make a key store with a password, which takes longer than the handshake
        KeyManager own = new OneKey(key, chain);
        SslContextBuilder builder = connecting
                ? SslContextBuilder.forClient().keyManager(own)
                : SslContextBuilder.forServer(own).clientAuth(ClientAuth.REQUIRE);
        // a context of its own for each connection: BoringSSL sends tickets, which only the context that made them
        // takes
        SslContext context = chosen(builder)
                .trustManager((TrustManager) new OpenSslTrust(trust))
                .build();
        try {
            // an engine that context.newEngine makes wants one record a call, and waits for more than there is
            return context.newHandler(ByteBufAllocator.DEFAULT).engine();
        } finally {
            // the engine holds it
            ReferenceCountUtil.release(context);
        }
    }

    @Override
    public boolean renewKeys() {
        return false;
    }

    /** Memory outside the heap: of arrays the engine makes copies. */
    @Override
    public ByteBuffer memory(int bytes) {
        return ByteBuffer.allocateDirect(bytes);
    }

    @Override
    public void free(SSLEngine engine) {
        ReferenceCountUtil.release(engine);
    }
}
