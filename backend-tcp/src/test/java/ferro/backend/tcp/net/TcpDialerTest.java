package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Where;
import io.netty.channel.Channel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The order of what the connecting side does. */
@Timeout(120)
class TcpDialerTest {
    @Test
    void theHelloIsPreparedBeforeTheConnectionIsMade() throws Exception {
        SocketConfig io = SocketConfig.standard();
        try (ServerSocketChannel server = ServerSocketChannel.open();
                BackgroundLoop loop = new BackgroundLoop(io, "hello")) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            server.configureBlocking(false);
            Nonces nonces = new Nonces(server);
            TlsPolicy plain = TlsPolicy.of(TlsPolicy.TlsMode.OFF, "job", "rank/1");
            TcpDialer dialer = new TcpDialer(
                    io, loop.group(), new Credentials("job", Secret.none(), nonces, plain), System::nanoTime);

            CompletableFuture<Channel> dialled = dialer.dial(call(server), new ConnectAttempts(System::nanoTime));

            assertTrue(nonces.asked.await(60, TimeUnit.SECONDS), "no hello");
            assertFalse(nonces.connected, "connected before the hello was made");
            dialled.cancel(false);
        }
    }

    private static TcpDialer.DialledPeer call(ServerSocketChannel server) throws IOException {
        InetSocketAddress at = (InetSocketAddress) server.getLocalAddress();
        return new TcpDialer.DialledPeer(
                () -> List.of(at),
                Hello.ConnectionKind.STORE,
                new Hello.RankPair(0, 1, 2, -1),
                Hello.ChannelIdentity.NONE,
                "the store",
                Where.of("g", 1),
                System.nanoTime() + TimeUnit.SECONDS.toNanos(60));
    }

    /** Nonces for hellos; sees whether a connection has come when the first one is made. */
    private static final class Nonces extends SecureRandom {
        private static final long serialVersionUID = 1L;

        private final transient ServerSocketChannel server;
        private final transient CountDownLatch asked = new CountDownLatch(1);
        private volatile boolean connected;

        Nonces(ServerSocketChannel server) {
            this.server = server;
        }

        @Override
        public void nextBytes(byte[] bytes) {
            super.nextBytes(bytes);
            if (bytes.length == Hello.NONCE_BYTES && asked.getCount() > 0) {
                try {
                    connected = server.accept() != null;
                } catch (IOException closed) {
                    throw new UncheckedIOException(closed);
                }
                asked.countDown();
            }
        }
    }
}
