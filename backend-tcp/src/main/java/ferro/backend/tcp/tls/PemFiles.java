package ferro.backend.tcp.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Reads certificates and private keys in PEM by the certificate and key factories of the JDK. */
final class PemFiles {
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";

    private PemFiles() {}

    /**
     * Reads all certificates of a file, in its order.
     *
     * @param file file with at least one certificate
     * @throws IOException naming the file, if it cannot be read or has none
     */
    static List<X509Certificate> certificates(Path file) throws IOException {
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
     * Reads a private key in PKCS#8 that is not encrypted.
     *
     * @param file      file of the key
     * @param algorithm algorithm of its public key, as EC or RSA
     * @throws IOException naming the file, never its content, if it cannot be read or has no such key
     */
    static PrivateKey key(Path file, String algorithm) throws IOException {
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
}
