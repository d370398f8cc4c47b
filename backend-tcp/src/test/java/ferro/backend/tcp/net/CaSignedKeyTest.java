package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.net.CaSignedKey.NamePattern;
import ferro.backend.tcp.net.TlsIdentity.CertificateWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaSignedKeyTest {
    private static final String NAME = "spiffe://cluster/ns/lab/sa/train";

    @TempDir
    Path folder;

    private KeyPair keys;
    private X509Certificate leaf;
    private Path certificate;
    private Path key;

    @BeforeEach
    void write() throws Exception {
        keys = pair();
        leaf = CertificateWriter.of(keys, NAME);
        certificate = pem("leaf.pem", "CERTIFICATE", leaf.getEncoded());
        key = pem("key.pem", "PRIVATE KEY", keys.getPrivate().getEncoded());
    }

    @Test
    void theKeyAndItsCertificateAreReadFromTheirFiles() throws Exception {
        CaSignedKey read = CaSignedKey.read(certificate, key, certificate);
        assertEquals(leaf, read.chain()[0]);
        assertEquals(keys.getPrivate(), read.key());
    }

    @Test
    void aKeyOfAnotherCertificateIsRefusedWithBothFileNames() throws Exception {
        Path other = pem("other.pem", "PRIVATE KEY", pair().getPrivate().getEncoded());
        String text = assertThrows(IOException.class, () -> CaSignedKey.read(certificate, other, certificate))
                .getMessage();
        assertTrue(text.contains(other.toString()) && text.contains(certificate.toString()), text);
    }

    @Test
    void aFileThatIsMissingOrHasNoKeyIsNamed() {
        Path missing = folder.resolve("missing.pem");
        String text = assertThrows(IOException.class, () -> CaSignedKey.read(missing, key, certificate))
                .getMessage();
        assertTrue(text.contains(missing + " cannot be read"), text);
        text = assertThrows(IOException.class, () -> CaSignedKey.read(certificate, certificate, certificate))
                .getMessage();
        assertTrue(text.contains("PKCS#8"), text);
    }

    @Test
    void aCertificateOutsideItsDatesIsRefusedWithFileAndDates() throws Exception {
        CaSignedKey read = CaSignedKey.read(certificate, key, certificate);
        read.checkDates(new Date());
        String text = assertThrows(
                        IOException.class, () -> read.checkDates(Date.from(Instant.parse("1969-01-01T00:00:00Z"))))
                .getMessage();
        assertTrue(text.contains(certificate.toString()) && text.contains("1970-01-01T00:00:00Z"), text);
    }

    @Test
    void aCertificateOfAnotherAuthorityIsRefused() throws Exception {
        X509Certificate stranger = CertificateWriter.of(pair(), NAME);
        CaSignedKey read = CaSignedKey.read(certificate, key, certificate);
        String text = assertThrows(CertificateException.class, () -> read.check(new X509Certificate[] {stranger}, null))
                .getMessage();
        assertTrue(text.contains("is not trusted") && text.contains(NAME), text);
    }

    @Test
    void aStarInANamePatternMatchesWithinOnePart() {
        assertTrue(new NamePattern("spiffe://cluster/ns/*/sa/train").matches(leaf));
        assertTrue(new NamePattern(NAME).matches(leaf));
        assertFalse(new NamePattern("spiffe://cluster/*/train").matches(leaf), "a star matches no slash");
        assertFalse(new NamePattern("spiffe://cluster/ns/*/sa/other").matches(leaf));
        assertFalse(new NamePattern("*").matches(leaf), "a DNS pattern matches no URI");
    }

    private static KeyPair pair() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(256);
        return generator.generateKeyPair();
    }

    private Path pem(String name, String kind, byte[] encoded) throws IOException {
        String text = "-----BEGIN " + kind + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded) + "\n-----END " + kind
                + "-----\n";
        return Files.write(folder.resolve(name), text.getBytes(StandardCharsets.US_ASCII));
    }
}
