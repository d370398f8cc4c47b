package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreClient;
import ferro.backend.tcp.TcpStoreClient.StoreAddress;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Threads;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client ends its connection while the store has not read its last requests: the store carries out all of them. */
@Timeout(60)
class UnreadAtTheEndTest {
    private static final int REQUESTS = 60;
    private static final String FIRST = "first";

    private final BlockingQueue<String> keys = new LinkedBlockingQueue<>();
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @ParameterizedTest
    @ValueSource(strings = {"", "0123456789abcdef0123456789abcdef"})
    void allRequestsOfAClosedClientAreExecuted(String secret) throws InterruptedException {
        byte[] bytes = secret.getBytes(StandardCharsets.US_ASCII);
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "job", 4, bytes);
                TcpStoreClient holding = open(server, bytes, 1)) {
            TcpStoreClient leaving = open(server, bytes, 2);
            server.onSet(this::set);
            holding.store().set(FIRST, new byte[] {7});
            assertTrue(held.await(20, TimeUnit.SECONDS), "the store is not held");

            IntStream.range(0, REQUESTS).forEach(i -> leaving.store().set("key-" + i, new byte[] {(byte) (i + 3)}));
            // the store is held: the close does not wait for all answers, and the requests are in the socket then
            leaving.close();
            goOn.countDown();

            List<String> expected =
                    IntStream.range(0, REQUESTS).mapToObj(i -> "key-" + i).toList();
            for (String key : expected) {
                assertEquals(key, keys.poll(5, TimeUnit.SECONDS));
            }
        } finally {
            goOn.countDown();
        }
    }

    /** Holds the one thread of the store in the first request. */
    private void set(String key, byte[] value) {
        if (!key.equals(FIRST)) {
            keys.add(key);
            return;
        }
        held.countDown();
        Threads.awaitQuietly(goOn);
    }

    private static TcpStoreClient open(TcpStoreServer server, byte[] secret, int number) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
        CompletableFuture<TcpStoreClient> opened = Threads.start(
                () -> TcpStoreClient.open(StoreAddress.of(address, "job", secret, number), Duration.ofSeconds(30)));
        return Ranks.result(opened);
    }
}
