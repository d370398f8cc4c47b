package ferro.backend.tcp;

import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The shared contract, on real sockets, with every connection encrypted. */
@Tag("long")
class TcpTlsContractTest extends TcpContract {
    /** AES is slow without the optimizing compiler: what is longer than a segment is 64 KiB here, and 512 KiB without TLS. */
    private static final Map<String, String> SHORT_SEGMENTS = Map.of("ferro.segment", "65536");

    TcpTlsContractTest() {
        super(TcpJob.encrypted(SHORT_SEGMENTS));
    }

    @Override
    protected boolean runs(int rule) {
        // 64 MiB pass the same code as without TLS, and the bound of 16 MiB counts what is read, as without TLS
        return rule != 113 && rule != 212 && isSelected(rule);
    }
}
