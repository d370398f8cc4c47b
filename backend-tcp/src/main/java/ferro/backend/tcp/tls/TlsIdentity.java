package ferro.backend.tcp.tls;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;

/**
 * The key by which a process encrypts its connections: made in memory, never written, gone with the process. The other side
 * trusts it because its hash is in a handshake that the job's secret protects. Any thread may use it.
 */
public final class TlsIdentity {
    /** Bytes of a {@link #fingerprint}. */
    public static final int FINGERPRINT_BYTES = 32;

    private static final String PROTOCOL = "TLSv1.3";
    private static final String CIPHER = "TLS_AES_128_GCM_SHA256";

    private final KeyPair keys;
    private final X509Certificate certificate;
    private final byte[] fingerprint;

    private TlsIdentity(KeyPair keys, X509Certificate certificate) {
        this.keys = keys;
        this.certificate = certificate;
        fingerprint = sha256(keys.getPublic());
    }

    /**
     * Makes a fresh P-256 key; takes some tens of milliseconds the first time.
     *
     * @param uri name of its owner in the certificate, as {@code ferro://JOB/rank/N}; for people who look at the traffic
     * @throws IllegalStateException if this Java runtime has no such keys
     */
    public static TlsIdentity fresh(String uri) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair keys = generator.generateKeyPair();
            return new TlsIdentity(keys, SelfSigned.of(keys, uri));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java runtime makes no key for " + uri + ": " + missing, missing);
        }
    }

    /** Returns SHA-256 of the encoded public key; the caller may keep and change it. */
    public byte[] fingerprint() {
        return fingerprint.clone();
    }

    X509Certificate certificate() {
        return certificate;
    }

    static byte[] sha256(PublicKey key) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(key.getEncoded());
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("this Java runtime has no SHA-256", missing);
        }
    }

    /**
     * Begins one side of a connection.
     *
     * @param connecting whether this side has connected, and so speaks first
     * @param pin        {@link #fingerprint} of the other side
     * @return session before its handshake
     * @throws IllegalStateException if this Java runtime has no TLS 1.3
     */
    public TlsSession session(boolean connecting, byte[] pin) {
        try {
            PinnedTrust trust = new PinnedTrust(pin);
            // a context of its own for each connection: no session of another one can be resumed
            SSLContext context = SSLContext.getInstance(PROTOCOL);
            context.init(
                    new KeyManager[] {new OneKey(keys.getPrivate(), certificate)}, new TrustManager[] {trust}, null);
            SSLEngine engine = context.createSSLEngine();
            engine.setUseClientMode(connecting);
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setProtocols(new String[] {PROTOCOL});
            parameters.setCipherSuites(new String[] {CIPHER});
            parameters.setNeedClientAuth(true);
            engine.setSSLParameters(parameters);
            engine.beginHandshake();
            return new TlsSession(engine, trust);
        } catch (GeneralSecurityException | javax.net.ssl.SSLException missing) {
            throw new IllegalStateException("this Java runtime has no " + PROTOCOL + ": " + missing, missing);
        }
    }
}
