package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.link.TcpPair;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class BackgroundLoopTest {
    private static final int LIMIT_MILLIS = 5_000;

    /**
     * Netty's loop closes its connections only if it polls sockets once more after the request to end. A request that a
     * task makes, or that comes while tasks run, comes too late for that.
     */
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aLoopThatItsOwnTaskClosesClosesItsConnections(String kind) throws Exception {
        SocketConfig io = TcpPair.io(kind);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                BackgroundLoop loop = new BackgroundLoop(io, "test-loop")) {
            new Bootstrap()
                    .group(loop.group())
                    .channel(io.channel())
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(server.getLocalSocketAddress())
                    .sync();
            try (Socket other = server.accept()) {
                other.setSoTimeout(LIMIT_MILLIS);

                loop.run(loop::close);

                assertEquals(-1, other.getInputStream().read(), "end of the stream");
            }
        }
    }
}
