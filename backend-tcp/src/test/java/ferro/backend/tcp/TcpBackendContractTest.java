package ferro.backend.tcp;

import java.util.Map;

/** The shared contract, on real sockets, driven as this machine does it best (epoll on Linux). */
class TcpBackendContractTest extends TcpContract {
    TcpBackendContractTest() {
        super(Map.of());
    }

    @Override
    public boolean runsSelection() {
        return false;
    }
}
