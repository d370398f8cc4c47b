package ferro.backend.tcp.net;

import ferro.backend.tcp.net.PinnedTrustManager.CertificateCheck;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslCertificateException;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;

/** The implementations of TLS whose engines encrypt connections. */
public enum TlsProvider {
    /** The engines of the Java runtime. */
    JDK("the JDK"),
    /** Netty's engines over BoringSSL, if its native library is available. */
    OPENSSL("OpenSSL");

    private final String label;

    TlsProvider(String label) {
        this.label = label;
    }

    /**
     * Returns the factory of engines. The class of the factory is loaded only by this call, because the library that
     * the class needs may be absent.
     */
    TlsEngineFactory engines() {
        return this == JDK ? new JdkEngineFactory() : new OpenSslEngineFactory();
    }

    /**
     * Prefixes of class names of class loaders. A program that such a loader has loaded stays loaded until the JVM
     * ends.
     */
    private static final List<String> LASTING = List.of("org.springframework.boot.loader.", "org.apache.spark.util.");

    /**
     * Returns the fastest available provider that cannot crash the process.
     *
     * <p>BoringSSL keeps data for each thread that has used BoringSSL. When the thread ends, code of BoringSSL frees
     * the data. If the native library is unloaded with its program before the thread ends, the process crashes with
     * SIGSEGV.
     */
    public static TlsProvider fastest() {
        ClassLoader program = TlsProvider.class.getClassLoader();
        return stays(program, ClassLoader.getSystemClassLoader()) && missingOpenSsl() == null ? OPENSSL : JDK;
    }

    /** Returns whether the classes of a loader stay loaded until the JVM ends. */
    static boolean stays(ClassLoader loader, ClassLoader system) {
        for (ClassLoader own = system; own != null; own = own.getParent()) {
            if (own == loader) {
                return true;
            }
        }
        return LASTING.stream().anyMatch(loader.getClass().getName()::startsWith);
    }

    /** Returns why {@link #OPENSSL} cannot be used, and what the user can do; null if {@link #OPENSSL} can be used. */
    public static String missingOpenSsl() {
        Throwable missing;
        try {
            missing = OpenSslEngineFactory.missing();
        } catch (LinkageError absent) {
            missing = absent;
        }
        if (missing == null) {
            return null;
        }
        return "Netty's OpenSSL engine is not available (" + missing + "): "
                + (NettyModules.areOwn()
                        ? "ferro-backend-tcp-shaded has it for Linux with glibc on x86_64 and aarch64; set"
                        : "add io.netty:netty-handler and io.netty:netty-tcnative-boringssl-static to the class path, or"
                                + " set")
                + " ferro.tls.provider=jdk";
    }

    @Override
    public String toString() {
        return label;
    }

    /** A factory of engines that use TLS 1.3, resume no session, and require the certificate of the peer. */
    interface TlsEngineFactory {
        /** The only TLS version that is used. */
        String PROTOCOL = "TLSv1.3";

        /** The cipher suite that engines use if the provider allows a choice. */
        String CIPHER = "TLS_AES_128_GCM_SHA256";

        /**
         * Creates the engine of one connection, before its handshake.
         *
         * @param chain      own certificates, leaf first
         * @param connecting whether this side is the connecting side, which sends first
         */
        SSLEngine engine(PrivateKey key, X509Certificate[] chain, PinnedTrustManager trust, boolean connecting)
                throws GeneralSecurityException, SSLException;

        /** Returns the trust manager that checks the certificates of the peer. */
        default PinnedTrustManager trust(byte[] pin, CertificateCheck judge) {
            return new PinnedTrustManager(pin, judge);
        }

        /** Returns whether engines renew their keys before one key has encrypted too many bytes. */
        boolean renewKeys();

        /** Returns heap or direct memory, whichever the engines use faster. */
        ByteBuffer memory(int bytes);

        /** Frees the memory that an engine has outside the heap. The engine must not be used afterwards. */
        void free(SSLEngine engine);
    }

    /** The engines of the Java runtime, which renew their keys after 2^37 bytes. */
    private static final class JdkEngineFactory implements TlsEngineFactory {
        @Override
        public SSLEngine engine(PrivateKey key, X509Certificate[] chain, PinnedTrustManager trust, boolean connecting)
                throws GeneralSecurityException {
            // each connection has a new context, so no session of another connection can be resumed
            SSLContext context = SSLContext.getInstance(PROTOCOL);
            context.init(new KeyManager[] {new SingleKeyManager(key, chain)}, new TrustManager[] {trust}, null);
            SSLEngine engine = context.createSSLEngine();
            engine.setUseClientMode(connecting);
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setProtocols(new String[] {PROTOCOL});
            parameters.setCipherSuites(new String[] {CIPHER});
            parameters.setNeedClientAuth(true);
            engine.setSSLParameters(parameters);
            return engine;
        }

        @Override
        public boolean renewKeys() {
            return true;
        }

        /** Returns an array, because the engine would copy any other memory. */
        @Override
        public ByteBuffer memory(int bytes) {
            return ByteBuffer.allocate(bytes);
        }

        @Override
        public void free(SSLEngine engine) {
            // the garbage collector frees the memory of the JDK's engines
        }
    }

    /**
     * Netty's engines over BoringSSL. The engines have memory outside the heap, and never renew their keys. BoringSSL
     * does not allow a choice of TLS 1.3 ciphers. BoringSSL's first choice is {@link #CIPHER} if the processor has AES
     * instructions.
     */
    private static final class OpenSslEngineFactory implements TlsEngineFactory {
        /**
         * X509_V_ERR_CERT_REJECTED of OpenSSL's x509_vfy.h. For this error, BoringSSL sends the alert "bad
         * certificate".
         */
        private static final int REJECTED = 28;

        /**
         * Returns the reason why no engines are available; null if engines are available.
         *
         * @throws LinkageError if the classes of Netty are absent or of another version
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

        /** Returns a trust manager whose refusals cause an alert about a certificate, not an internal error. */
        @Override
        public PinnedTrustManager trust(byte[] pin, CertificateCheck judge) {
            return new PinnedTrustManager(pin, judge) {
                @Override
                void check(X509Certificate[] chain) throws CertificateException {
                    try {
                        super.check(chain);
                    } catch (CertificateException refused) {
                        throw new OpenSslCertificateException(refused.getMessage(), refused, REJECTED);
                    }
                }

                @Override
                void check(X509Certificate[] chain, SSLEngine engine) throws CertificateException {
                    check(chain);
                }
            };
        }

        @Override
        public SSLEngine engine(PrivateKey key, X509Certificate[] chain, PinnedTrustManager trust, boolean connecting)
                throws SSLException {
            // if Netty got the key and its chain, it would create a key store with a password, which takes longer than
            // the handshake
            KeyManager own = new SingleKeyManager(key, chain);
            SslContextBuilder builder = connecting
                    ? SslContextBuilder.forClient().keyManager(own)
                    : SslContextBuilder.forServer(own).clientAuth(ClientAuth.REQUIRE);
            // each connection has a new context, so no session is resumed: BoringSSL sends session tickets, and only
            // the context that has sent a ticket accepts it
            SslContext context =
                    chosen(builder).trustManager((TrustManager) trust).build();
            try {
                // an engine of context.newEngine requires exactly one record per call, and may wait for bytes that
                // never arrive
                return context.newHandler(ByteBufAllocator.DEFAULT).engine();
            } finally {
                // the engine has its own reference to the context
                ReferenceCountUtil.release(context);
            }
        }

        @Override
        public boolean renewKeys() {
            return false;
        }

        /** Returns memory outside the heap, because the engine would copy arrays. */
        @Override
        public ByteBuffer memory(int bytes) {
            return ByteBuffer.allocateDirect(bytes);
        }

        @Override
        public void free(SSLEngine engine) {
            ReferenceCountUtil.release(engine);
        }
    }

    /** A key manager that returns one key and its certificates for every request. */
    private static final class SingleKeyManager extends X509ExtendedKeyManager {
        private static final String ALIAS = "ferro";

        private final PrivateKey key;
        private final X509Certificate[] chain;

        SingleKeyManager(PrivateKey key, X509Certificate[] chain) {
            this.key = key;
            this.chain = chain;
        }

        @Override
        public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
            return ALIAS;
        }

        @Override
        public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            return type.equals(key.getAlgorithm()) ? ALIAS : null;
        }

        @Override
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return ALIAS;
        }

        @Override
        public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return chooseEngineServerAlias(type, issuers, null);
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            return new String[] {ALIAS};
        }

        @Override
        public String[] getServerAliases(String type, Principal[] issuers) {
            return new String[] {ALIAS};
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return chain.clone();
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return key;
        }
    }
}
