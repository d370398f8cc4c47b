package ferro.backend.tcp;

/** The shared contract, on real sockets, driven as machines without epoll do it. */
class TcpNioContractTest extends TcpContract {
    TcpNioContractTest() {
        super("nio");
    }
}
