package ferro.backend.tcp.net;

import ferro.backend.tcp.net.CompanyKey.NamePattern;
import ferro.spi.LogLines;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/**
 * The files of a company's certificates, which are read again once one of them is another: by its time, its length or its place
 * on the disk. While they do not fit together, as in the middle of a renewal, what was read before stays in use. Any thread may
 * use it.
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
     * @param key         key of the leaf, PKCS#8 in PEM, not encrypted
     * @param trust       certificates of the authorities that others must be of, PEM
     * @param name        pattern of a URI or DNS name that the leaf of every other side must have; null if any will do
     * @throws IOException naming the file, if one cannot be read, or key and certificate do not fit
     */
    static PemIdentityFiles read(Path certificate, Path key, Path trust, String name, TlsProvider provider)
            throws IOException {
        PemIdentityFiles all = new PemIdentityFiles(
                List.of(certificate, key, trust), name == null ? null : new NamePattern(name), provider);
        all.marks = all.marks();
        all.last = all.read();
        return all;
    }

    /** Returns the identity of the files as they are now, or as they were when they fitted last. */
    synchronized TlsIdentity identity() {
        try {
            List<Object> now = marks();
            if (!now.equals(marks)) {
                last = read();
                marks = now;
            }
        } catch (IOException broken) {
            LogLines.logger("ferro.tcp")
                    .log(
                            Level.WARNING,
                            "new connections use the certificates that were read before: {0}",
                            broken.getMessage());
        }
        return last;
    }

    private TlsIdentity read() throws IOException {
        return TlsIdentity.of(CompanyKey.read(files.get(0), files.get(1), files.get(2)), name, provider);
    }

    /** Returns what tells a file from the one that was there before: renewals replace a file, or a link on the way to it. */
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
