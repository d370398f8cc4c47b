package ferro.spark.rendezvous;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import ferro.group.JoinOptions;
import ferro.spark.failure.RankFailure;
import ferro.spi.PortRange;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DriverStoreClientTest {
    private final TcpStoreServer server = TcpStoreServer.start(
            InetAddress.getLoopbackAddress(), PortRange.of("0"), JoinOptions.jobId("app", 1), 2, null);

    private DriverStoreClient line(int rank) {
        return new DriverStoreClient(new AttemptRendezvous("127.0.0.1", server.port(), "app", 1, false), 0, rank);
    }

    @Test
    void twoRanksCannotHaveOneDevice() {
        try (server;
                DriverStoreClient first = line(0);
                DriverStoreClient second = line(1)) {
            assertEquals(Optional.empty(), first.claim("host/3"));
            assertEquals(Optional.empty(), first.claim("host/3"));
            assertEquals(Optional.of(0), second.claim("host/3"));
            assertEquals(Optional.empty(), second.claim("host/2"));
        }
    }

    @Test
    void aVanishedDriverDoesNotFailARank() throws Exception {
        CompletableFuture<String> reported = new CompletableFuture<>();
        server.onSet((key, value) -> reported.complete(key));
        try (DriverStoreClient line = line(1)) {
            line.progress(1, Map.of("loss", 0.5));
            assertTrue(reported.get(30, TimeUnit.SECONDS).contains("progress/1"), reported.get());
            server.close();
            long started = System.nanoTime();
            while (System.nanoTime() - started < TimeUnit.MILLISECONDS.toNanos(1_500)) {
                line.progress(2, Map.of("loss", 0.25));
            }
            line.failed(RankFailure.of(1, new IllegalStateException("bad"), new byte[0]));
        }
    }

    @Test
    void aJobWithoutADriverStoreNeedsNoDriver() {
        try (server;
                DriverStoreClient line = new DriverStoreClient(AttemptRendezvous.atRankZero("app", 1, false), 0, 1)) {
            line.progress(1, Map.of("loss", 0.5));
            line.failed(RankFailure.of(1, new IllegalStateException("bad"), new byte[0]));
        }
    }
}
