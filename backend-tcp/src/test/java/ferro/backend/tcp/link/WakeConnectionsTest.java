package ferro.backend.tcp.link;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.net.SocketConfig;
import io.netty.channel.Channel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waking by a connection: every ring ends a wait or the next one. */
@Timeout(20)
class WakeConnectionsTest {
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final WakeConnections ringing = new WakeConnections(2);
    private final WakeConnections sleeping = new WakeConnections(2);

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void everyDoorbellSignalEndsAWaitOrTheNextOne(String name) throws Exception {
        SocketConfig io = TcpPair.io(name);
        try (TcpPair.Side one = new TcpPair.Side(io);
                TcpPair.Side other = new TcpPair.Side(io)) {
            hang(io, one, other);
            AtomicInteger rung = new AtomicInteger();
            AtomicInteger heard = new AtomicInteger();
            int rings = 300;
            Thread sleeper = new Thread(() -> {
                for (int ring = 1; ring <= rings; ring++) {
                    while (rung.get() < ring) {
                        sleeping.want();
                        other.links.block(LONG_NANOS);
                        sleeping.silence();
                    }
                    heard.set(ring);
                }
            });
            sleeper.setDaemon(true);
            sleeper.start();
            for (int ring = 1; ring <= rings; ring++) {
                rung.set(ring);
                assertTrue(ringing.signal(1));
                long rungNanos = System.nanoTime();
                while (heard.get() < ring) {
                    assertTrue(System.nanoTime() - rungNanos < LONG_NANOS / 6, "ring " + ring + " was not heard");
                }
            }
            sleeper.join();
            ringing.close();
            sleeping.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aDoorbellWithoutItsPeerDoesNotSignal(String name) throws Exception {
        SocketConfig io = TcpPair.io(name);
        try (TcpPair.Side one = new TcpPair.Side(io);
                TcpPair.Side other = new TcpPair.Side(io)) {
            hang(io, one, other);
            sleeping.close();
            ringing.want();
            one.links.block(LONG_NANOS);
            ringing.silence();
            assertFalse(ringing.signal(1));
        }
    }

    private void hang(SocketConfig io, TcpPair.Side one, TcpPair.Side other) throws Exception {
        Channel[] ends = TcpPair.connected(io);
        ringing.register(1, one.links.adopt(ends[0]));
        sleeping.register(0, other.links.adopt(ends[1]));
    }
}
