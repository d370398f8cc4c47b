package ferro.backend.tcp.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.Date;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * The key by which a process encrypts its connections: made in memory, never written, gone with the process, or read from the
 * files of a company with certificates around it. The other side trusts it because its hash is in a handshake that the job's
 * secret protects, and then judges the certificates where a company has given it some, too. Any thread may use it.
 */
public final class TlsIdentity {
    /** Bytes of a {@link #fingerprint}. */
    public static final int FINGERPRINT_BYTES = 32;

    private final PrivateKey key;
    private final X509Certificate[] chain;
    private final byte[] fingerprint;
    /** The files that this identity was read from; null if it was made. */
    private final CompanyKey company;

    private final PeerJudge judge;

    private final TlsEngines engines;

    private TlsIdentity(
            PrivateKey key, X509Certificate[] chain, CompanyKey company, PeerJudge judge, TlsProvider provider) {
        this.key = key;
        this.chain = chain;
        this.company = company;
        this.judge = judge;
        engines = provider.engines();
        fingerprint = sha256(chain[0].getPublicKey());
    }

    /**
     * Makes a fresh P-256 key; takes some tens of milliseconds the first time.
     *
     * @param uri      name of its owner in the certificate, as {@code ferro://JOB/rank/N}; for people who look at the traffic
     * @param provider whose engines encrypt with it
     * @throws IllegalStateException if this Java runtime has no such keys
     */
    public static TlsIdentity fresh(String uri, TlsProvider provider) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair keys = generator.generateKeyPair();
            X509Certificate[] chain = {SelfSigned.of(keys, uri)};
            return new TlsIdentity(keys.getPrivate(), chain, null, PeerJudge.OF_KEY_ALONE, provider);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java runtime makes no key for " + uri + ": " + missing, missing);
        }
    }

    /**
     * Returns the identity of a company's key.
     *
     * @param name     pattern of a name that the leaf of another side must have; null if any will do
     * @param provider whose engines encrypt with it
     */
    static TlsIdentity of(CompanyKey company, NamePattern name, TlsProvider provider) {
        PeerJudge judge = peer -> company.check(peer, name);
        return new TlsIdentity(company.key(), company.chain(), company, judge, provider);
    }

    /**
     * Refuses a company's certificate whose dates do not hold now; the key of a process has none.
     *
     * @throws IOException naming file and dates
     */
    public void checkDates() throws IOException {
        if (company != null) {
            company.checkDates(new Date());
        }
    }

    /** Returns SHA-256 of the encoded public key; the caller may keep and change it. */
    public byte[] fingerprint() {
        return fingerprint.clone();
    }

    X509Certificate certificate() {
        return chain[0];
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
     * @param judged     whether its certificates are judged too, if this side has those of a company
     * @return session before its handshake
     * @throws IllegalStateException if the provider has no TLS 1.3, or no memory for an engine
     */
    public TlsSession session(boolean connecting, byte[] pin, boolean judged) {
        try {
            PinnedTrust trust = new PinnedTrust(pin, judged ? judge : PeerJudge.OF_KEY_ALONE);
            return begun(engines.engine(key, chain, trust, connecting), trust);
        } catch (GeneralSecurityException | SSLException missing) {
            throw new IllegalStateException("there is no engine of " + TlsEngines.PROTOCOL + ": " + missing, missing);
        }
    }

    private TlsSession begun(SSLEngine engine, PinnedTrust trust) throws SSLException {
        try {
            engine.beginHandshake();
            return new TlsSession(engine, trust, engines);
        } catch (SSLException | RuntimeException | Error unable) {
            // such as a lack of memory: what the engine holds, no collector frees
            engines.free(engine);
            throw unable;
        }
    }
}
