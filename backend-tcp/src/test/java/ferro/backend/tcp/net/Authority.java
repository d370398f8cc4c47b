package ferro.backend.tcp.net;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A company's authority: a root, and one below it that issues certificates. */
public final class Authority {
    private final X509Bundle root;
    private final X509Bundle issuer;

    /** Makes an authority. */
    public Authority(String company) {
        try {
            root = authority(company).buildSelfSigned();
            issuer = authority(company + " issuer").buildIssuedBy(root);
        } catch (Exception unable) {
            throw new IllegalStateException("no authority of " + company, unable);
        }
    }

    private static CertificateBuilder authority(String name) {
        return new CertificateBuilder().ecp256().subject("CN=" + name).setIsCertificateAuthority(true);
    }

    /** Returns a certificate below the one that issues. */
    public X509Bundle leaf(String uri) {
        return leaf(uri, leaf -> leaf);
    }

    /** Returns a certificate that differs from the usual ones. */
    public X509Bundle leaf(String uri, UnaryOperator<CertificateBuilder> more) {
        try {
            CertificateBuilder usual =
                    new CertificateBuilder().ecp256().subject("CN=rank").addSanUriName(URI.create(uri));
            return more.apply(usual).buildIssuedBy(issuer);
        } catch (Exception unable) {
            throw new IllegalStateException("no certificate for " + uri, unable);
        }
    }

    /** Returns a certificate that was valid until yesterday. */
    public X509Bundle expired(String uri) {
        Instant now = Instant.now();
        return leaf(uri, leaf -> leaf.notBefore(now.minusSeconds(172_800)).notAfter(now.minusSeconds(86_400)));
    }

    X509Bundle root() {
        return root;
    }

    /** Writes a certificate with those above it, its key, and the root to trust, and returns the settings that name the files. */
    public Map<String, String> settings(Path folder, X509Bundle leaf) {
        Map<String, String> settings = new HashMap<>();
        settings.put("ferro.tls.certificate", write(folder.resolve("chain.pem"), leaf.getCertificatePathPEM()));
        settings.put("ferro.tls.key", write(folder.resolve("key.pem"), leaf.getPrivateKeyPEM()));
        settings.put("ferro.tls.trust", write(folder.resolve("trust.pem"), root.getCertificatePEM()));
        return settings;
    }

    /** Replaces a file, as those that renew certificates do. */
    static String write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Path fresh = Files.writeString(file.resolveSibling("fresh"), text);
            Files.move(fresh, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            return file.toString();
        } catch (IOException unable) {
            throw new UncheckedIOException(unable);
        }
    }
}
