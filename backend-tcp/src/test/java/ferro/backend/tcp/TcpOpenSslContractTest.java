package ferro.backend.tcp;

import java.util.Map;
import org.junit.jupiter.api.Tag;

@Tag("long")
class TcpOpenSslContractTest extends TcpContract implements NeedsOpenSsl {
    TcpOpenSslContractTest() {
        super(TcpJob.encrypted(Map.of("ferro.tls.provider", "openssl")));
    }

    @Override
    protected boolean runs(int rule) {
        return isSelected(rule);
    }
}
