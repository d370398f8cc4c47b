package ferro.backend.tcp.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;

/**
 * Writes the certificate of a key that no authority has signed (RFC 5280). Its dates span all years, because the clocks of
 * two hosts may differ and nobody judges them.
 */
final class SelfSigned {
    private static final int INTEGER = 0x02;
    private static final int BITS = 0x03;
    private static final int OCTETS = 0x04;
    private static final int OID = 0x06;
    private static final int TEXT = 0x0C;
    private static final int TIME = 0x18;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    /** Context-specific tags of a certificate: version, extensions, and a URI among alternative names. */
    private static final int VERSION = 0xA0;

    private static final int EXTENSIONS = 0xA3;
    private static final int URI = 0x86;

    private static final int LONG_LENGTH = 0x80;

    /** 1.2.840.10045.4.3.2, ecdsa-with-SHA256. */
    private static final byte[] ECDSA_SHA256 = {0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 0x04, 0x03, 0x02};
    /** 2.5.4.3, common name. */
    private static final byte[] COMMON_NAME = {0x55, 0x04, 0x03};
    /** 2.5.29.17, subject alternative name. */
    private static final byte[] ALTERNATIVE_NAME = {0x55, 0x1D, 0x11};

    private SelfSigned() {}

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

    /** Returns a tag, the length and the contents (X.690, 8.1). */
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
