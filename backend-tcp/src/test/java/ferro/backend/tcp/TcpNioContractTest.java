package ferro.backend.tcp;

import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The shared contract, on real sockets, driven as machines without epoll do it. */
@Tag("long")
class TcpNioContractTest extends TcpContract {
    TcpNioContractTest() {
        super(Map.of("ferro.tcp.io", "nio", "ferro.segment", "65536"));
    }

    @Override
    protected boolean runs(int rule) {
        // 64 MiB pass the same code as over epoll, and a segment's borders are in the cells
        return rule != 113 && isSelected(rule);
    }
}
