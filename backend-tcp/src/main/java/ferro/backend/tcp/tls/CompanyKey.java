package ferro.backend.tcp.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Certificates and key of a company as they were read from their files once. Immutable; any thread may use it. */
final class CompanyKey {
    private static final byte[] PROBE = {'f', 'e', 'r', 'r', 'o'};

    private final Path file;
    private final List<X509Certificate> chain;
    private final PrivateKey key;
    private final Set<TrustAnchor> anchors;

    private CompanyKey(Path file, List<X509Certificate> chain, PrivateKey key, Set<TrustAnchor> anchors) {
        this.file = file;
        this.chain = List.copyOf(chain);
        this.key = key;
        this.anchors = anchors;
    }

    /**
     * Reads the three files.
     *
     * @param certificate chain of certificates, leaf first
     * @param key         key of the leaf, PKCS#8
     * @param trust       certificates of authorities
     * @throws IOException naming the file, if one cannot be read or the key is not the leaf's
     */
    static CompanyKey read(Path certificate, Path key, Path trust) throws IOException {
        List<X509Certificate> chain = PemFiles.certificates(certificate);
        PrivateKey own = PemFiles.key(key, chain.get(0).getPublicKey().getAlgorithm());
        Set<TrustAnchor> anchors = new HashSet<>();
        for (X509Certificate authority : PemFiles.certificates(trust)) {
            anchors.add(new TrustAnchor(authority, null));
        }
        CompanyKey read = new CompanyKey(certificate, chain, own, anchors);
        if (!read.fits()) {
            throw new IOException(key + " is not the key of the first certificate of " + certificate
                    + ": need the pair that was issued together, leaf first");
        }
        return read;
    }

    X509Certificate[] chain() {
        return chain.toArray(new X509Certificate[0]);
    }

    PrivateKey key() {
        return key;
    }

    /**
     * Refuses a leaf of our own whose dates do not hold.
     *
     * @throws IOException naming file and dates
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
     * Checks the certificates of the other side: signatures up to an authority, dates, and the name of the leaf. Revocation
     * is not asked for.
     *
     * @param peer chain of the other side, leaf first
     * @param name pattern of a name that its leaf must have, or null if any will do
     * @throws CertificateException saying which certificate, and what was needed
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

    /** Returns the certificates below the first that is trusted itself, which some send too. */
    private List<X509Certificate> belowAuthority(X509Certificate[] peer) {
        Set<X509Certificate> trusted = new HashSet<>();
        anchors.forEach(anchor -> trusted.add(anchor.getTrustedCert()));
        return Arrays.stream(peer).takeWhile(one -> !trusted.contains(one)).toList();
    }

    /** Returns whether what the key signs verifies with the leaf. */
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
}
