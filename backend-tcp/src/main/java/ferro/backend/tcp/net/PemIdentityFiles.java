package ferro.backend.tcp.net;

import ferro.backend.tcp.net.CaSignedKey.NamePattern;
import ferro.spi.PlainLoggers;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/**
 * The PEM files of a key and certificates of the user's own CA. Changed files are read again. A file has changed if its
 * time, length or file key is different. If the key and the certificate do not match, for example during a renewal, the
 * last matching contents stay in use. Thread-safe.
 */
final class PemIdentityFiles {
    private final List<Path> files;
    private final NamePattern name;
    private final TlsProvider provider;
    private List<Object> marks;
    private TlsIdentity last;

    private PemIdentityFiles(List<Path> files, NamePattern name, TlsProvider provider) {
        this.files = files;
        this.name = name;
        this.provider = provider;
    }

    /**
     * Reads the files for the first time.
     *
     * @param certificate chain of certificates, leaf first, PEM
     * @param key         private key of the leaf, PKCS#8 in PEM, not encrypted
     * @param trust       certificates of the authorities that must have signed a peer's certificate, PEM
     * @param name        pattern of a URI or DNS name that every peer's leaf must have; null accepts any name
     * @throws IOException naming the file, if a file cannot be read, or if the key does not belong to the certificate
     */
    static PemIdentityFiles read(Path certificate, Path key, Path trust, String name, TlsProvider provider)
            throws IOException {
        PemIdentityFiles all = new PemIdentityFiles(
                List.of(certificate, key, trust), name == null ? null : new NamePattern(name), provider);
        all.marks = all.marks();
        all.last = all.read();
        return all;
    }

    /**
     * Returns the identity in the current files. If the files cannot be read or do not match each other, returns the
     * last identity whose files matched.
     */
    synchronized TlsIdentity identity() {
        try {
            List<Object> now = marks();
            if (!now.equals(marks)) {
                last = read();
                marks = now;
            }
        } catch (IOException broken) {
            PlainLoggers.logger("ferro.tcp")
                    .log(
                            Level.WARNING,
                            "new connections use the certificates that were read before: {0}",
                            broken.getMessage());
        }
        return last;
    }

    private TlsIdentity read() throws IOException {
        return TlsIdentity.of(CaSignedKey.read(files.get(0), files.get(1), files.get(2)), name, provider);
    }

    /**
     * Returns values that differ after a change of the files. A renewal replaces a file, or a link on the path to the
     * file.
     */
    private List<Object> marks() throws IOException {
        Object[] found = new Object[files.size()];
        for (int i = 0; i < found.length; i++) {
            try {
                BasicFileAttributes file = Files.readAttributes(files.get(i), BasicFileAttributes.class);
                found[i] = List.of(file.lastModifiedTime(), file.size(), String.valueOf(file.fileKey()));
            } catch (IOException absent) {
                throw new IOException(files.get(i) + " cannot be read: " + absent, absent);
            }
        }
        return List.of(found);
    }
}
