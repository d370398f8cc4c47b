package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.net.BackgroundLoop;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.group.SystemContext;
import io.netty.channel.Channel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The last frames of a peer are in the socket when something else says that it is gone. */
@Timeout(60)
class LastFramesTest {
    private static final int FRAMES = 40;
    /** More than the looks whether more has been read. */
    private static final int MANY_FRAMES = 200;

    private static final int GROUP = 7;
    /** All frames fit into one segment of the loopback interface: where the first has come, all have. */
    private static final int BYTES = 200;

    private static final String END = "end";
    /** Longer than the time between two looks whether more has been read. */
    private static final long SLOW_NANOS = 3_000_000L;

    private boolean slowly;
    private int count = FRAMES;

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void aTaskAfterReadingRunsAfterAllFramesThatHaveArrived(String kind) throws Exception {
        check(kind, false, peer -> {}, (connection, said) -> connection.afterReading(() -> said.add(END)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void aFailedWriteIsReportedAfterAllReceivedFrames(String kind) throws Exception {
        check(kind, true, LastFramesTest::reset, (connection, said) -> connection.send(frame(0)));
    }

    /** As on a machine that does other work, for a rank that was stopped: many frames have come, and each takes a while. */
    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void aFailedWriteIsReportedAfterAllReceivedFramesThatAreReadSlowly(String kind) throws Exception {
        slowly = true;
        count = MANY_FRAMES;
        check(kind, true, LastFramesTest::reset, (connection, said) -> connection.send(frame(0)));
    }

    /** The loop is in the first frame while all others come; then something happens on it. */
    private void check(
            String kind, boolean ends, Consumer<Socket> peerThen, BiConsumer<ControlConnection, Reader> onLoop)
            throws Exception {
        SocketConfig io = SocketConfig.of(SystemContext.of(Map.of("ferro.tcp.io", kind)));
        try (BackgroundLoop loop = new BackgroundLoop(io, "test-loop");
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel = Sockets.connected(io, loop, server, made -> made);
            try (Socket peer = server.accept()) {
                Reader reader = new Reader(onLoop, slowly);
                reader.connection = new ControlConnection(1, channel, reader, false);
                channel.pipeline().addLast(reader.connection);
                peer.getOutputStream().write(frames(count));
                reader.begun.await();
                peerThen.accept(peer);
                reader.goOn.countDown();

                List<String> expected = Stream.concat(
                                IntStream.range(0, count).mapToObj(Integer::toString), Stream.of(END))
                        .toList();
                for (String next : expected) {
                    assertEquals(
                            next,
                            reader.said.poll(20, TimeUnit.SECONDS),
                            () -> "before " + reader.said + ", ended by " + reader.endedBy);
                }
                assertEquals(!ends, channel.isOpen());
            }
        }
    }

    /** Ends the connection at once, as a process does that ends with unread bytes. */
    private static void reset(Socket peer) {
        try {
            peer.setSoLinger(true, 0);
            peer.close();
        } catch (IOException broken) {
            throw new AssertionError("cannot reset", broken);
        }
    }

    private static byte[] frames(int count) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        IntStream.range(0, count).forEach(i -> all.writeBytes(frame(i).encoded()));
        return all.toByteArray();
    }

    private static ControlFrame frame(int i) {
        return ControlFrame.message(GROUP, ByteBuffer.allocate(BYTES).putInt(0, i));
    }

    /** Notes what comes, in order; stays in the first frame until told. */
    private static final class Reader implements ControlConnection.FrameReceiver {
        private final LinkedBlockingQueue<String> said = new LinkedBlockingQueue<>();
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final BiConsumer<ControlConnection, Reader> meanwhile;
        private final boolean slowly;
        private volatile ControlConnection connection;
        private volatile Throwable endedBy;

        Reader(BiConsumer<ControlConnection, Reader> meanwhile, boolean slowly) {
            this.meanwhile = meanwhile;
            this.slowly = slowly;
        }

        void add(String what) {
            said.add(what);
        }

        @Override
        public void received(int peer, ControlFrame frame) {
            int number = ByteBuffer.wrap(frame.body()).getInt();
            said.add(Integer.toString(number));
            if (slowly) {
                LockSupport.parkNanos(SLOW_NANOS);
            }
            if (number == 0) {
                begun.countDown();
                Threads.awaitQuietly(goOn);
                meanwhile.accept(connection, this);
                LockSupport.parkNanos(5_000_000); // timers that are set by now are due in this round
            }
        }

        @Override
        public void ended(int peer, Throwable why) {
            endedBy = why;
            said.add(END);
        }
    }
}
