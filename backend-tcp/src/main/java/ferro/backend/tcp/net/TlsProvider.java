package ferro.backend.tcp.net;

import ferro.backend.tcp.net.PinnedTrust.PeerJudge;
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

/** Whose engines encrypt. */
public enum TlsProvider {
    /** Those of the Java runtime. */
    JDK("the JDK"),
    /** Those of Netty over BoringSSL, where its library is there. */
    OPENSSL("OpenSSL");

    private final String label;

    TlsProvider(String label) {
        this.label = label;
    }

    /** Returns the maker of engines; its class is looked for only now, because its library may be absent. */
    TlsEngines engines() {
        return this == JDK ? new JdkEngines() : new OpenSslEngines();
    }

    /** Loaders of programs that stay loaded until the JVM ends, by the beginnings of their class names. */
    private static final List<String> LASTING = List.of("org.springframework.boot.loader.", "org.apache.spark.util.");

    /**
     * Returns the fastest one that is there and does no harm.
     *
     * <p>BoringSSL keeps data of each thread that has used it, and frees the data by its own code when the thread ends. If its
     * library has been unloaded before, together with the program that contains it, the process ends by SIGSEGV.
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

    /** Returns why {@link #OPENSSL} cannot be used, and what would change that; null if it can. */
    public static String missingOpenSsl() {
        Throwable missing;
        try {
            missing = OpenSslEngines.missing();
        } catch (LinkageError absent) {
            missing = absent;
        }
        if (missing == null) {
            return null;
        }
        return "Netty's OpenSSL engine is not available (" + missing + "): "
                + (NettyParts.areOwn()
                        ? "ferro-backend-tcp-shaded has it for Linux with glibc on x86_64 and aarch64; set"
                        : "add io.netty:netty-handler and io.netty:netty-tcnative-boringssl-static to the class path, or"
                                + " set")
                + " ferro.tls.provider=jdk";
    }

    @Override
    public String toString() {
        return label;
    }

    /** Makes engines that speak TLS 1.3, resume no session, and ask for the certificate of the other side. */
    interface TlsEngines {
        /** The one version of TLS. */
        String PROTOCOL = "TLSv1.3";

        /** The cipher, as far as it can be chosen. */
        String CIPHER = "TLS_AES_128_GCM_SHA256";

        /**
         * Makes the engine of one connection, before its handshake.
         *
         * @param chain      its certificates, leaf first
         * @param connecting whether this side has connected, and so speaks first
         */
        SSLEngine engine(PrivateKey key, X509Certificate[] chain, PinnedTrust trust, boolean connecting)
                throws GeneralSecurityException, SSLException;

        /** Returns what judges the certificates of the other side. */
        default PinnedTrust trust(byte[] pin, PeerJudge judge) {
            return new PinnedTrust(pin, judge);
        }

        /** Returns whether engines change their keys by themselves before these have encrypted too much. */
        boolean renewKeys();

        /** Returns memory of the kind that engines are fastest with. */
        ByteBuffer memory(int bytes);

        /** Frees what an engine holds outside the heap; nothing may be done with it afterwards. */
        void free(SSLEngine engine);
    }

    /** Engines of the Java runtime. They change their keys by themselves after 2^37 bytes. */
    private static final class JdkEngines implements TlsEngines {
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

    /**
     * Engines of Netty over BoringSSL. They hold memory outside the heap, and never change their keys by themselves. BoringSSL lets
     * nobody choose the ciphers of TLS 1.3; its own first choice is {@link #CIPHER} where the processor has AES.
     */
    private static final class OpenSslEngines implements TlsEngines {
        /** X509_V_ERR_CERT_REJECTED of OpenSSL's x509_vfy.h; the alert for it is "bad certificate". */
        private static final int REJECTED = 28;

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

        /** Has BoringSSL tell the other side that its certificate was refused: of another exception it would make an internal error. */
        @Override
        public PinnedTrust trust(byte[] pin, PeerJudge judge) {
            return new PinnedTrust(pin, judge) {
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
        public SSLEngine engine(PrivateKey key, X509Certificate[] chain, PinnedTrust trust, boolean connecting)
                throws SSLException {
            // of a key and its chain Netty would make a key store with a password, which takes longer than
            // the handshake
            KeyManager own = new OneKey(key, chain);
            SslContextBuilder builder = connecting
                    ? SslContextBuilder.forClient().keyManager(own)
                    : SslContextBuilder.forServer(own).clientAuth(ClientAuth.REQUIRE);
            // a context of its own for each connection: BoringSSL sends tickets, and only the context that made
            // a ticket takes it
            SslContext context =
                    chosen(builder).trustManager((TrustManager) trust).build();
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

    /** Shows one key and its certificates, whoever asks. */
    private static final class OneKey extends X509ExtendedKeyManager {
        private static final String ALIAS = "ferro";

        private final PrivateKey key;
        private final X509Certificate[] chain;

        OneKey(PrivateKey key, X509Certificate[] chain) {
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
