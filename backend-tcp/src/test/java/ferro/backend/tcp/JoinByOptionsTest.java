package ferro.backend.tcp;

import static ferro.backend.tcp.mesh.Ranks.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Threads;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.PortRange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ranks that a launcher describes by options join over real sockets. */
@Timeout(60)
class JoinByOptionsTest {
    private static final byte[] SECRET = "0123456789abcdefghijklmnopqrstuv".getBytes(StandardCharsets.US_ASCII);
    private static final PortRange ANY = PortRange.of("0");
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private static JoinOptions rank(int rank, int worldSize) {
        return JoinOptions.of(rank, worldSize)
                .group("stage3.0")
                .local(rank, worldSize)
                .job("app", 2)
                .secret(SECRET)
                .timeout(Duration.ofSeconds(20))
                .setting("ferro.backend", "tcp");
    }

    private static float sum(JoinOptions options) {
        return sumAndClose(ProcessGroup.join(options));
    }

    private static float sumAndClose(ProcessGroup joined) {
        try (joined) {
            float[] data = {joined.rank() + 1};
            joined.allReduce(data, ReduceOp.SUM);
            return data[0];
        }
    }

    @Test
    void ranksJoinByTheStoreOfAProcessOutsideTheGroup() {
        try (TcpStoreServer store = TcpStoreServer.start(LOOPBACK, ANY, JoinOptions.jobId("app", 2), 3, SECRET)) {
            List<CompletableFuture<Float>> sums = new ArrayList<>();
            for (int rank = 0; rank < 3; rank++) {
                JoinOptions options = rank(rank, 3).storeAt(store.endpoint());
                sums.add(Threads.start(() -> sum(options)));
            }
            assertEquals(List.of(6f, 6f, 6f), sums.stream().map(Ranks::result).toList());
        }
    }

    @Test
    void aRankServesTheStoreInAPortRangeAndReturnsItsEndpoint() {
        int first = 20_000 + (int) (ProcessHandle.current().pid() % 30_000);
        PortRange ports = new PortRange(first, first + 200);
        try (SystemContext serving = SystemContext.of(rank(1, 2).serveStore("127.0.0.1", ports.toString()))) {
            String endpoint = serving.storeEndpoint();
            assertEquals(endpoint, serving.storeEndpoint());
            int port = Integer.parseInt(endpoint.substring(endpoint.indexOf(':') + 1));
            assertTrue(port >= ports.first() && port <= ports.last(), endpoint);

            CompletableFuture<Float> other = Threads.start(() -> sum(rank(0, 2).storeAt(endpoint)));
            assertEquals(3, sumAndClose(serving.join()));
            assertEquals(3, Ranks.result(other));
        }
    }

    @Test
    void aRankThatServesTheStoreAcceptsOnlyItsJobAndGeneration() {
        try (TcpStoreServer store = TcpStoreServer.start(LOOPBACK, ANY, "app.2", 2, SECRET)) {
            FerroException older = assertThrows(
                    FerroException.class, () -> sum(rank(1, 2).job("app", 1).storeAt(store.endpoint())));
            assertEquals(Code.RENDEZVOUS, older.code(), older.getMessage());
            assertTrue(older.getMessage().contains("job \"app.1\", an earlier generation"), older.getMessage());
            byte[] another = SECRET.clone();
            another[0]++;
            FerroException stranger = assertThrows(
                    FerroException.class, () -> sum(rank(1, 2).secret(another).storeAt(store.endpoint())));
            assertEquals(Code.UNAUTHENTICATED, stranger.code(), stranger.getMessage());
        }
    }

    @Test
    void aRankThatDoesNotServeTheStoreHasNoStoreEndpoint() {
        try (SystemContext context = SystemContext.of(rank(1, 2).setting("ferro.links", "tcp"))) {
            assertRefused(UnsupportedOperationException.class, context::storeEndpoint, "JoinOptions.serveStore");
        }
    }

    @Test
    void aPortRangeWithoutAFreePortIsNamed() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, LOOPBACK)) {
            PortRange one = new PortRange(taken.getLocalPort(), taken.getLocalPort());
            assertRefused(
                    FerroException.class,
                    () -> TcpStoreServer.start(LOOPBACK, one, "app.2", 2, SECRET),
                    "" + taken.getLocalPort());
            try (SystemContext context = SystemContext.of(rank(0, 2).serveStore("127.0.0.1", one.toString()))) {
                assertRefused(FerroException.class, context::storeEndpoint, "ferro.tcp.port");
            }
        }
    }

    @Test
    void theStoreTakesTheFirstFreePortOfItsRange() {
        try (TcpStoreServer first = TcpStoreServer.start(LOOPBACK, ANY, "app.2", 2, SECRET)) {
            int port = first.port();
            PortRange both = new PortRange(port, Math.min(PortRange.HIGHEST, port + 50));
            try (TcpStoreServer second = TcpStoreServer.start(LOOPBACK, both, "app.2", 2, SECRET)) {
                assertTrue(second.port() > port && second.port() <= both.last(), second.endpoint());
                assertEquals("127.0.0.1:" + second.port(), second.endpoint());
            }
        }
    }

    @Test
    void theFlightRecordOfARankIsCutToTheRequestedBytes() {
        try (SystemContext context = SystemContext.of(rank(0, 1))) {
            assertTrue(context.flightRecord(1 << 16).isEmpty(), "there is no group to record");
            ProcessGroup group = context.join();
            for (int call = 0; call < 600; call++) {
                group.allReduce(new float[] {call}, ReduceOp.SUM);
            }
            byte[] whole = context.flightRecord(1 << 30).orElseThrow();
            byte[] cut = context.flightRecord(20_000).orElseThrow();
            assertTrue(whole.length > 40_000, "only " + whole.length);
            assertTrue(cut.length <= 20_000 && cut.length > 10_000, "found " + cut.length);
            String text = new String(cut, StandardCharsets.US_ASCII);
            assertTrue(text.contains("\"sequence\":600,") && !text.contains("\"sequence\":1,"), text);
            assertTrue(text.startsWith("{") && text.endsWith("]}\n"), text);
            assertRefused(IllegalArgumentException.class, () -> context.flightRecord(10), "found a limit of 10");
        }
    }
}
