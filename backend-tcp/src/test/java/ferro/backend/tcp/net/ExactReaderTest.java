package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.link.DataSocket;
import ferro.backend.tcp.link.PolledLoop;
import ferro.backend.tcp.mesh.Ranks;
import ferro.group.SystemContext;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What stands behind the bytes asked for is left in the socket, also when the end stands behind it. */
@Timeout(60)
class ExactReaderTest {
    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void bytesAfterTheExactReadStayInTheSocket(String kind) throws IOException {
        SocketConfig io = SocketConfig.of(SystemContext.of(Map.of("ferro.tcp.io", kind)));
        CompletableFuture<String> asked = new CompletableFuture<>();
        try (BackgroundLoop loop = new BackgroundLoop(io, "test-loop");
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel = Sockets.connected(io, loop, server, made -> made.handler(new Asks(3, asked)));
            try (Socket socket = server.accept()) {
                socket.getOutputStream().write("abcdefghij".getBytes(StandardCharsets.US_ASCII));
            }

            assertEquals("abc", Ranks.result(asked));

            turns(loop);
            assertTrue(channel.isOpen(), "the end closed the channel before its last bytes were read");
            channel.deregister().awaitUninterruptibly();
            assertEquals("defghij", rest(io, channel));
        }
    }

    /** Each turn of the loop looks at its sockets first. */
    private static void turns(BackgroundLoop loop) {
        for (int i = 0; i < 20; i++) {
            loop.group().submit(() -> {}).awaitUninterruptibly();
        }
    }

    private static String rest(SocketConfig io, Channel channel) throws IOException {
        ByteBuffer in = ByteBuffer.allocateDirect(64);
        PolledLoop driven = PolledLoop.open(io);
        try {
            DataSocket wire = driven.adopt(channel);
            int count = 0;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            for (int came = 0; came >= 0 && System.nanoTime() < deadline; count += Math.max(0, came)) {
                driven.look();
                came = wire.read(in, count, 64);
            }
            wire.close();
            return StandardCharsets.US_ASCII.decode(in.limit(count)).toString();
        } finally {
            driven.close();
        }
    }

    /** Asks for so many bytes once. */
    private static final class Asks extends ExactReader {
        private final int bytes;
        private final CompletableFuture<String> read;

        Asks(int bytes, CompletableFuture<String> read) {
            this.bytes = bytes;
            this.read = read;
        }

        @Override
        public void begin() {
            expect(bytes);
        }

        @Override
        public void whole(ByteBuffer whole) {
            read.complete(StandardCharsets.US_ASCII.decode(whole).toString());
        }
    }
}
