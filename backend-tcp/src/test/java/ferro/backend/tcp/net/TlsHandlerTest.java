package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** After the end of a stream Netty reads on without being asked; more than the session has room for may be left. */
@Timeout(60)
class TlsHandlerTest {
    private static final int FRAME_BYTES = 4 << 10;
    /** More than the session has room for, and less than the buffers of a socket hold. */
    private static final int FRAMES = 45;
    /** Part of the second record: the memory of the session is then no multiple of a read. */
    private static final int PART_BYTES = 1_000;

    private static final int SOCKET_BYTES = 1 << 20;

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void allFramesAreReadAfterThePeerHasClosed(String kind) throws Exception {
        SocketConfig io = SocketConfig.of(SystemContext.of(Map.of("ferro.tcp.io", kind)));
        TlsPair pair = TlsPair.fresh().shaken();
        Frames frames = new Frames();
        try (BackgroundLoop loop = new BackgroundLoop(io, "test-loop");
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel =
                    Sockets.connected(io, loop, server, made -> made.option(ChannelOption.SO_RCVBUF, SOCKET_BYTES));
            channel.attr(TlsHandshakeHandler.SESSION).set(pair.accepting());
            try (Socket peer = server.accept()) {
                peer.setSendBufferSize(SOCKET_BYTES);
                ByteBuffer records = records(pair.connecting());
                loop.group().submit(() -> {
                    TlsHandler.install(channel);
                    channel.pipeline().addLast(frames);
                });
                int first = recordBytes(records) + PART_BYTES;
                peer.getOutputStream().write(records.array(), 0, first);
                assertTrue(frames.begun.await(20, TimeUnit.SECONDS), "the first frame has not come");
                peer.getOutputStream().write(records.array(), first, records.limit() - first);
            }
            frames.goOn.countDown();

            assertEquals("closed by the peer", frames.ended.get(20, TimeUnit.SECONDS));
            assertEquals(FRAMES, frames.count);
            pair.accepting().close();
            pair.connecting().close();
        }
    }

    private static ByteBuffer records(TlsSession session) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(2 * FRAMES * FRAME_BYTES);
        for (int i = 0; i < FRAMES; i++) {
            session.seal(ByteBuffer.allocate(FRAME_BYTES).putInt(0, i), 0, FRAME_BYTES);
            all.put(session.outgoing()
                    .limit(session.outgoingAt() + session.waiting())
                    .position(session.outgoingAt()));
            session.written(session.waiting());
        }
        return all.flip();
    }

    /** Returns the bytes of the first record, whose length stands behind its kind and version. */
    private static int recordBytes(ByteBuffer records) {
        return 5 + records.getShort(3);
    }

    /** Counts frames, in order, and notes why they end; stays in the first frame until it may go on. */
    private static final class Frames extends ExactReader {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final CompletableFuture<String> ended = new CompletableFuture<>();
        private int count;

        @Override
        public void begin() {
            expect(FRAME_BYTES);
        }

        @Override
        public void whole(ByteBuffer bytes) {
            if (bytes.getInt(0) != count) {
                ended.complete("frame " + bytes.getInt(0) + " instead of " + count);
            }
            count++;
            if (count == 1) {
                begun.countDown();
                Threads.awaitQuietly(goOn);
            }
            expect(FRAME_BYTES);
        }

        @Override
        public void channelInactive(ChannelHandlerContext inactive) {
            ended.complete("closed by the peer");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
            ended.complete(cause.toString());
        }
    }
}
