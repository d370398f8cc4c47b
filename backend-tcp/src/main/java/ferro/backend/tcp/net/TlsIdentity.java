package ferro.backend.tcp.net;

import ferro.backend.tcp.net.CaSignedKey.NamePattern;
import ferro.backend.tcp.net.PinnedTrustManager.CertificateCheck;
import ferro.backend.tcp.net.TlsProvider.TlsEngineFactory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.Date;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * The key with which a process encrypts its connections. By default the key is created in memory and never written. If
 * PEM files of the user's own CA are configured, the key comes from these files, with certificates. The peer trusts the
 * key, because the handshake contains the key's hash, and the job's secret protects the handshake. A side with PEM
 * files also checks the peer's certificates. Thread-safe.
 */
final class TlsIdentity {
    /** Length of a {@link #fingerprint} in bytes. */
    static final int FINGERPRINT_BYTES = 32;

    private final PrivateKey key;
    private final X509Certificate[] chain;
    private final byte[] fingerprint;
    /** Key and certificates from the PEM files; null if the key was created in memory. */
    private final CaSignedKey company;

    private final CertificateCheck judge;

    private final TlsEngineFactory engines;

    private TlsIdentity(
            PrivateKey key,
            X509Certificate[] chain,
            CaSignedKey company,
            CertificateCheck judge,
            TlsProvider provider) {
        this.key = key;
        this.chain = chain;
        this.company = company;
        this.judge = judge;
        engines = provider.engines();
        fingerprint = sha256(chain[0].getPublicKey());
    }

    /**
     * Creates a fresh P-256 key. The first call takes some tens of milliseconds.
     *
     * @param uri      name of the owner in the certificate, as {@code ferro://JOB/rank/N}; for people who inspect
     *     traffic
     * @throws IllegalStateException if this Java runtime has no P-256 keys
     */
    static TlsIdentity fresh(String uri, TlsProvider provider) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair keys = generator.generateKeyPair();
            X509Certificate[] chain = {CertificateWriter.of(keys, uri)};
            return new TlsIdentity(keys.getPrivate(), chain, null, CertificateCheck.OF_KEY_ALONE, provider);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java runtime makes no key for " + uri + ": " + missing, missing);
        }
    }

    /**
     * Returns the identity of a key from PEM files.
     *
     * @param name     pattern that a name of the peer's leaf must match; null accepts any name
     */
    static TlsIdentity of(CaSignedKey company, NamePattern name, TlsProvider provider) {
        CertificateCheck judge = peer -> company.check(peer, name);
        return new TlsIdentity(company.key(), company.chain(), company, judge, provider);
    }

    /**
     * Refuses a certificate from PEM files that is not valid now. The certificate of a key that was created in memory
     * is always valid.
     *
     * @throws IOException if the certificate is not valid now; the message names the file and the dates
     */
    void checkDates() throws IOException {
        if (company != null) {
            company.checkDates(new Date());
        }
    }

    /** Returns the SHA-256 of the encoded public key, as a copy. */
    byte[] fingerprint() {
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
     * Creates the TLS session of one side of a connection.
     *
     * @param connecting whether this side is the connecting side, which sends first
     * @param pin        {@link #fingerprint} of the peer
     * @param judged     whether to check the peer's certificates; has no effect if this side has no PEM files
     * @return session whose handshake has not begun
     * @throws IllegalStateException if the provider has no TLS 1.3, or no memory for an engine
     */
    TlsSession session(boolean connecting, byte[] pin, boolean judged) {
        try {
            PinnedTrustManager trust = engines.trust(pin, judged ? judge : CertificateCheck.OF_KEY_ALONE);
            return begun(engines.engine(key, chain, trust, connecting), trust);
        } catch (GeneralSecurityException | SSLException missing) {
            throw new IllegalStateException(
                    "there is no engine of " + TlsEngineFactory.PROTOCOL + ": " + missing, missing);
        }
    }

    private TlsSession begun(SSLEngine engine, PinnedTrustManager trust) throws SSLException {
        try {
            engine.beginHandshake();
            return new TlsSession(engine, trust, engines);
        } catch (SSLException | RuntimeException | Error unable) {
            // after an error, such as out of memory, frees the engine, which the garbage collector does not free
            engines.free(engine);
            throw unable;
        }
    }

    /**
     * A writer of self-signed certificates (RFC 5280). A certificate is valid in all years, because the clocks of two
     * hosts may differ and no peer checks its dates.
     */
    static final class CertificateWriter {
        private static final int INTEGER = 0x02;
        private static final int BITS = 0x03;
        private static final int OCTETS = 0x04;
        private static final int OID = 0x06;
        private static final int TEXT = 0x0C;
        private static final int TIME = 0x18;
        private static final int SEQUENCE = 0x30;
        private static final int SET = 0x31;
        /** Context-specific tags in a certificate: version, extensions, and a URI among the alternative names. */
        private static final int VERSION = 0xA0;

        private static final int EXTENSIONS = 0xA3;
        private static final int URI = 0x86;

        private static final int LONG_LENGTH = 0x80;

        /** The object identifier 1.2.840.10045.4.3.2, ecdsa-with-SHA256. */
        private static final byte[] ECDSA_SHA256 = {0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 0x04, 0x03, 0x02};
        /** The object identifier 2.5.4.3, common name. */
        private static final byte[] COMMON_NAME = {0x55, 0x04, 0x03};
        /** The object identifier 2.5.29.17, subject alternative name. */
        private static final byte[] ALTERNATIVE_NAME = {0x55, 0x1D, 0x11};

        private CertificateWriter() {}

        /** Returns the certificate of a P-256 key with one alternative name, a URI. */
        static X509Certificate of(KeyPair keys, String uri) throws GeneralSecurityException {
            byte[] algorithm = part(SEQUENCE, part(OID, ECDSA_SHA256));
            byte[] name = part(SEQUENCE, part(SET, part(SEQUENCE, part(OID, COMMON_NAME), part(TEXT, ascii("ferro")))));
            byte[] dates = part(SEQUENCE, part(TIME, ascii("19700101000000Z")), part(TIME, ascii("99991231235959Z")));
            byte[] names = part(SEQUENCE, part(URI, ascii(uri)));
            byte[] extension = part(SEQUENCE, part(OID, ALTERNATIVE_NAME), part(OCTETS, names));
            byte[] body = part(
                    SEQUENCE,
                    part(VERSION, part(INTEGER, new byte[] {2})),
                    part(INTEGER, new byte[] {1}),
                    algorithm,
                    name,
                    dates,
                    name,
                    keys.getPublic().getEncoded(),
                    part(EXTENSIONS, part(SEQUENCE, extension)));
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(keys.getPrivate());
            signature.update(body);
            byte[] whole = part(SEQUENCE, body, algorithm, part(BITS, new byte[] {0}, signature.sign()));
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(whole));
        }

        private static byte[] ascii(String text) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }

        /** Returns the encoding of a tag, the length of the contents, and the contents (X.690, 8.1). */
        private static byte[] part(int tag, byte[]... contents) {
            ByteArrayOutputStream joined = new ByteArrayOutputStream();
            for (byte[] one : contents) {
                joined.writeBytes(one);
            }
            int length = joined.size();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.write(tag);
            if (length < LONG_LENGTH) {
                out.write(length);
            } else {
                int bytes = length <= 0xFF ? 1 : 2;
                out.write(LONG_LENGTH | bytes);
                for (int i = bytes - 1; i >= 0; i--) {
                    out.write(length >> (8 * i));
                }
            }
            out.writeBytes(joined.toByteArray());
            return out.toByteArray();
        }
    }
}
