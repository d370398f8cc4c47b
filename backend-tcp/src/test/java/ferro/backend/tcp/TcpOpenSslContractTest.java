package ferro.backend.tcp;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.backend.tcp.net.TlsProvider;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("long")
class TcpOpenSslContractTest extends TcpContract {
    TcpOpenSslContractTest() {
        super(TcpJob.encrypted(Map.of("ferro.tls.provider", "openssl")));
    }

    @Override
    protected boolean runs(int rule) {
        return isSelected(rule);
    }

    @BeforeAll
    static void needOpenSsl() {
        String missing = TlsProvider.missingOpenSsl();
        assumeTrue(missing == null, missing);
    }
}
