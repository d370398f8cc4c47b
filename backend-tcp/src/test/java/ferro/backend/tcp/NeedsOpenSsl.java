package ferro.backend.tcp;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.backend.tcp.net.TlsProvider;
import org.junit.jupiter.api.BeforeAll;

/** Tests that are skipped, with the reason, where OpenSSL is missing. */
interface NeedsOpenSsl {
    @BeforeAll
    static void needOpenSsl() {
        String missing = TlsProvider.missingOpenSsl();
        assumeTrue(missing == null, missing);
    }
}
