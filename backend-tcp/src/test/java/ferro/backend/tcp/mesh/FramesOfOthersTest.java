package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.FerroException;
import ferro.backend.tcp.net.Threads;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A rank that stood still finds the end of one connection beside unread frames of another: these may say why it has ended. */
@Timeout(60)
class FramesOfOthersTest {
    private static final long GROUP = 77;
    private static final int FRAMES = 20;
    private static final int BYTES = 500;
    private static final int MANY = 1000;
    private static final String END = "end of 0";

    @ParameterizedTest
    @CsvSource({"auto, true", "auto, false", "nio, true", "nio, false"})
    void framesOfOtherPeersAreDeliveredBeforeTheEndOfAPeer(String kind, boolean writes) throws Exception {
        try (Ranks ranks = Ranks.onLoopback()) {
            Map<String, String> io = Map.of("ferro.tcp.io", kind);
            List<CompletableFuture<TcpMesh>> joining = IntStream.range(0, 3)
                    .mapToObj(rank -> ranks.join(rank, 3, Ranks.LONG, io))
                    .toList();
            List<TcpMesh> meshes = joining.stream().map(Ranks::result).toList();
            TcpMesh stopped = meshes.get(1);
            Stopped listener = new Stopped(() -> {
                // the socket refuses the second write: the first one has been answered by a reset
                IntStream.range(0, writes ? MANY : 0).forEach(i -> stopped.control(0, GROUP, frame(i)));
            });
            stopped.register(GROUP, listener.inMesh());

            meshes.get(2).control(1, GROUP, frame(0));
            Ranks.result(listener.held);
            IntStream.range(1, FRAMES).forEach(i -> meshes.get(2).control(1, GROUP, frame(i)));
            meshes.get(2).control(0, GROUP, frame(FRAMES));
            meshes.get(0).drop();
            listener.goOn.countDown();

            for (int i = 0; i < FRAMES; i++) {
                assertEquals("frame " + i, listener.next());
            }
            assertEquals(END, listener.next());
        }
    }

    private static ByteBuffer frame(int number) {
        return ByteBuffer.allocate(BYTES).putInt(0, number);
    }

    /** Stands still in the first frame, and then takes a while for each frame. */
    private static final class Stopped implements Ranks.Hears {
        private static final long SLOW_NANOS = 3_000_000L;

        private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        private final CompletableFuture<Void> held = new CompletableFuture<>();
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final Runnable then;

        Stopped(Runnable then) {
            this.then = then;
        }

        String next() throws InterruptedException {
            return heard.poll(20, TimeUnit.SECONDS);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            int number = message.getInt(0);
            heard.add("frame " + number);
            if (number == 0) {
                held.complete(null);
                Threads.awaitQuietly(goOn);
                then.run();
            }
            LockSupport.parkNanos(SLOW_NANOS);
        }

        @Override
        public void lost(int peer, FerroException cause) {
            heard.add("end of " + peer);
        }
    }
}
