package ferro.backend.tcp.net;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateParsingException;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** A key and certificates of the user's own CA, which are read once from files. Immutable, so thread-safe. */
final class CaSignedKey {
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";
    private static final byte[] PROBE = {'f', 'e', 'r', 'r', 'o'};

    private final Path file;
    private final List<X509Certificate> chain;
    private final PrivateKey key;
    private final Set<TrustAnchor> anchors;

    private CaSignedKey(Path file, List<X509Certificate> chain, PrivateKey key, Set<TrustAnchor> anchors) {
        this.file = file;
        this.chain = List.copyOf(chain);
        this.key = key;
        this.anchors = anchors;
    }

    /**
     * Reads the key and the certificates from three files.
     *
     * @param certificate chain of certificates, leaf first
     * @param key         private key of the leaf, PKCS#8
     * @param trust       certificates of the trusted authorities
     * @throws IOException naming the file, if a file cannot be read or the key does not belong to the leaf
     */
    static CaSignedKey read(Path certificate, Path key, Path trust) throws IOException {
        List<X509Certificate> chain = certificates(certificate);
        PrivateKey own = key(key, chain.get(0).getPublicKey().getAlgorithm());
        Set<TrustAnchor> anchors = new HashSet<>();
        for (X509Certificate authority : certificates(trust)) {
            anchors.add(new TrustAnchor(authority, null));
        }
        CaSignedKey read = new CaSignedKey(certificate, chain, own, anchors);
        if (!read.fits()) {
            throw new IOException(key + " is not the key of the first certificate of " + certificate
                    + ": need the pair that was issued together, leaf first");
        }
        return read;
    }

    /**
     * Reads all certificates of a file, in the order of the file.
     *
     * @throws IOException naming the file, if the file cannot be read or has no certificate
     */
    private static List<X509Certificate> certificates(Path file) throws IOException {
        try {
            List<X509Certificate> all = new ArrayList<>();
            for (var one : CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(bytes(file)))) {
                all.add((X509Certificate) one);
            }
            if (all.isEmpty()) {
                throw new IOException(file + " has " + all.size() + " certificates: need at least 1, in PEM");
            }
            return all;
        } catch (CertificateException wrong) {
            throw new IOException(file + " is not a PEM file of certificates: " + wrong.getMessage(), wrong);
        }
    }

    /**
     * Reads an unencrypted private key in PKCS#8.
     *
     * @param algorithm algorithm of the public key, such as EC or RSA
     * @throws IOException naming the file, never its content, if the file cannot be read or has no such key
     */
    private static PrivateKey key(Path file, String algorithm) throws IOException {
        String text = new String(bytes(file), StandardCharsets.ISO_8859_1);
        int from = text.indexOf(BEGIN);
        int to = text.indexOf(END);
        if (from < 0 || to < from) {
            throw new IOException(file + " has no \"" + BEGIN
                    + "\": need an unencrypted key in PKCS#8 (openssl pkcs8 -topk8 -nodes converts other " + "keys)");
        }
        try {
            byte[] encoded = Base64.getMimeDecoder().decode(text.substring(from + BEGIN.length(), to));
            return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
        } catch (GeneralSecurityException | IllegalArgumentException wrong) {
            // the cause may quote bytes of the key
            throw new IOException(file + " has no key of algorithm " + algorithm + ", which its certificate names");
        }
    }

    private static byte[] bytes(Path file) throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (IOException absent) {
            throw new IOException(file + " cannot be read: " + absent, absent);
        }
    }

    X509Certificate[] chain() {
        return chain.toArray(new X509Certificate[0]);
    }

    PrivateKey key() {
        return key;
    }

    /**
     * Throws if this side's leaf certificate is not valid now.
     *
     * @throws IOException if the certificate is not valid now; the message names the file and the dates
     */
    void checkDates(Date now) throws IOException {
        X509Certificate leaf = chain.get(0);
        if (now.after(leaf.getNotAfter()) || now.before(leaf.getNotBefore())) {
            throw new IOException("the certificate of " + file + " is valid from "
                    + leaf.getNotBefore().toInstant() + " to "
                    + leaf.getNotAfter().toInstant() + ", but now it is " + now.toInstant()
                    + ": replace the file with a renewed certificate; new connections read it again");
        }
    }

    /**
     * Checks the certificates of the peer: the signatures up to a trusted authority, the dates, and the name of the
     * leaf. Revocation is not checked.
     *
     * @param peer certificate chain of the peer, leaf first
     * @param name pattern that a name of the peer's leaf must match; null accepts any name
     * @throws CertificateException saying which certificate is wrong, and what is needed
     */
    void check(X509Certificate[] peer, NamePattern name) throws CertificateException {
        try {
            peer[0].checkValidity();
            List<X509Certificate> path = belowAuthority(peer);
            if (!path.isEmpty()) {
                PKIXParameters parameters = new PKIXParameters(anchors);
                parameters.setRevocationEnabled(false);
                CertPathValidator.getInstance("PKIX")
                        .validate(CertificateFactory.getInstance("X.509").generateCertPath(path), parameters);
            }
        } catch (GeneralSecurityException wrong) {
            throw new CertificateException(
                    "the other side's certificate " + NamePattern.names(peer[0]) + ", valid from "
                            + peer[0].getNotBefore().toInstant() + " to "
                            + peer[0].getNotAfter().toInstant() + ", is not trusted: " + wrong.getMessage()
                            + "; need a certificate of an authority in ferro.tls.trust",
                    wrong);
        }
        if (name != null && !name.matches(peer[0])) {
            throw new CertificateException("the other side's certificate is for " + NamePattern.names(peer[0])
                    + ": need a name that matches " + name + " (ferro.tls.name)");
        }
    }

    /**
     * Returns the peer's certificates before the first trusted certificate. Some peers also send the trusted
     * certificates.
     */
    private List<X509Certificate> belowAuthority(X509Certificate[] peer) {
        Set<X509Certificate> trusted = new HashSet<>();
        anchors.forEach(anchor -> trusted.add(anchor.getTrustedCert()));
        return Arrays.stream(peer).takeWhile(one -> !trusted.contains(one)).toList();
    }

    /** Returns whether the leaf's public key verifies a signature of the private key. */
    private boolean fits() {
        String algorithm = key.getAlgorithm();
        try {
            Signature signing =
                    Signature.getInstance("EC".equals(algorithm) ? "SHA256withECDSA" : signature(algorithm));
            signing.initSign(key);
            signing.update(PROBE);
            byte[] signed = signing.sign();
            signing.initVerify(chain.get(0).getPublicKey());
            signing.update(PROBE);
            return signing.verify(signed);
        } catch (GeneralSecurityException differs) {
            return false;
        }
    }

    private static String signature(String algorithm) {
        return "RSA".equals(algorithm) ? "SHA256withRSA" : algorithm;
    }

    /**
     * A pattern of a subject alternative name, which is a URI or a DNS name. A star matches one or more characters, but
     * no slash in a URI and no dot in a DNS name.
     */
    static final class NamePattern {
        /** Type number of a DNS name among subject alternative names (RFC 5280, 4.2.1.6). */
        private static final int DNS = 2;

        private static final int URI = 6;

        private final String text;
        private final int kind;
        private final Pattern pattern;

        NamePattern(String text) {
            this.text = text;
            boolean uri = text.contains("://");
            kind = uri ? URI : DNS;
            StringBuilder all = new StringBuilder();
            for (String part : text.split("\\*", -1)) {
                all.append(all.isEmpty() ? "" : uri ? "[^/]+" : "[^.]+").append(Pattern.quote(part));
            }
            pattern = Pattern.compile(all.toString(), uri ? 0 : Pattern.CASE_INSENSITIVE);
        }

        /** Returns whether a name of the certificate matches this pattern. */
        boolean matches(X509Certificate certificate) {
            Collection<List<?>> names = alternatives(certificate);
            return names.stream()
                    .anyMatch(name -> name.get(0).equals(kind)
                            && pattern.matcher((String) name.get(1)).matches());
        }

        /** Returns the URIs and DNS names of a certificate, for messages. */
        static List<String> names(X509Certificate certificate) {
            List<String> names = new ArrayList<>();
            for (List<?> name : alternatives(certificate)) {
                if (name.get(0).equals(DNS) || name.get(0).equals(URI)) {
                    names.add((String) name.get(1));
                }
            }
            return names;
        }

        private static Collection<List<?>> alternatives(X509Certificate certificate) {
            try {
                Collection<List<?>> names = certificate.getSubjectAlternativeNames();
                return names == null ? List.of() : names;
            } catch (CertificateParsingException unreadable) {
                return List.of();
            }
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
