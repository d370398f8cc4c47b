package ferro.backend.tcp;

import java.util.Map;

/** The shared contract, on real sockets, with every connection encrypted. */
class TcpTlsContractTest extends TcpContract {
    TcpTlsContractTest() {
        super(TcpJob.encrypted(Map.of()));
    }

    /** Not a test here: 64 MiB pass the same code as without TLS, and the borders of records are in other tests. */
    @Override
    public void sixtyFourMebibytesAreSummed(int worldSize) {}
}
