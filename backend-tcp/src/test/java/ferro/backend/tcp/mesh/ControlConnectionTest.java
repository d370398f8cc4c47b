package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.backend.tcp.net.BackgroundLoop;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.Sockets;
import ferro.group.SystemContext;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is told on a connection whose process has no direct memory left. */
@Timeout(60)
class ControlConnectionTest {
    private static final int FRAMES = 40;
    private static final int GROUP = 7;

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void framesSentAtOnceLeaveInOrderWithoutDirectMemory(String kind) throws Exception {
        check(kind, 100, connection -> {});
    }

    /** A refused peer must receive the reason, even if other frames to the peer were queued before. */
    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void framesThatFitIntoTheSocketAreSentBeforeADrop(String kind) throws Exception {
        check(kind, 10, ControlConnection::drop);
    }

    /** The loop says the last frame, while it has written none of those before, and then does something. */
    private static void check(String kind, int step, Consumer<ControlConnection> then) throws Exception {
        SocketConfig io = SocketConfig.of(SystemContext.of(Map.of("ferro.tcp.io", kind)));
        AtomicReference<Throwable> ended = new AtomicReference<>();
        try (BackgroundLoop loop = new BackgroundLoop(io, "test-loop");
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel = Sockets.connected(
                    io, loop, server, made -> made.option(ChannelOption.ALLOCATOR, new NothingLeft()));
            try (Socket peer = server.accept()) {
                peer.setSoTimeout(20_000);
                ControlConnection connection = new ControlConnection(1, channel, new Owner(ended), false);
                channel.pipeline().addLast(connection);
                CountDownLatch sent = new CountDownLatch(1);
                loop.group().execute(() -> {
                    awaitThenSend(sent, connection, step);
                    then.accept(connection);
                });
                for (int i = 0; i < FRAMES - 1; i++) {
                    connection.send(frame(i, step));
                }
                sent.countDown();

                DataInputStream in = new DataInputStream(peer.getInputStream());
                for (int i = 0; i < FRAMES; i++) {
                    byte[] expected = frame(i, step).encoded();
                    assertEquals(
                            ByteBuffer.wrap(expected), ByteBuffer.wrap(in.readNBytes(expected.length)), "frame " + i);
                }
                loop.group().submit(() -> {}).sync();
                assertEquals(0, connection.waitingBytes());
                assertNull(ended.get());
            }
        }
    }

    private static void awaitThenSend(CountDownLatch sent, ControlConnection connection, int step) {
        try {
            sent.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        connection.send(frame(FRAMES - 1, step));
    }

    private static ControlFrame frame(int i, int step) {
        return ControlFrame.message(GROUP, ByteBuffer.allocate(step * (i + 1)).putInt(0, i));
    }

    private record Owner(AtomicReference<Throwable> cause) implements ControlConnection.FrameReceiver {
        @Override
        public void received(int peer, ControlFrame frame) {}

        @Override
        public void ended(int peer, Throwable why) {
            cause.set(why == null ? new IOException("closed by the peer") : why);
        }
    }

    /** Has no direct memory. */
    private static final class NothingLeft extends AbstractByteBufAllocator {
        @Override
        protected ByteBuf newHeapBuffer(int least, int most) {
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(least, most);
        }

        @Override
        protected ByteBuf newDirectBuffer(int least, int most) {
            throw new OutOfMemoryError("cannot reserve " + least + " bytes of direct buffer memory");
        }

        @Override
        public CompositeByteBuf compositeDirectBuffer(int most) {
            throw new OutOfMemoryError("no direct buffer memory");
        }

        @Override
        public boolean isDirectBufferPooled() {
            return true;
        }
    }
}
