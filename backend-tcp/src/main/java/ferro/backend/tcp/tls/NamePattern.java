package ferro.backend.tcp.tls;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Pattern of a subject alternative name, a URI or a DNS name. A star stands for one or more characters of one part: it
 * matches no slash in a URI and no dot in a DNS name.
 */
final class NamePattern {
    /** Kinds of alternative names (RFC 5280, 4.2.1.6). */
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

    /** Returns whether a certificate has such a name. */
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
