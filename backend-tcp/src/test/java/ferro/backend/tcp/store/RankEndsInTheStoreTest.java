package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.RankEnd;
import ferro.backend.tcp.TcpStoreClient;
import ferro.backend.tcp.TcpStoreClient.StoreAddress;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a rank reads from the store how the process of another rank has ended. */
@Timeout(60)
class RankEndsInTheStoreTest {
    private static final RankEnd KILLED =
            RankEnd.of(17, "b", 137).bySignal("KILL").afterLine("a line; of rank 1");
    private static final GroupSpec SPEC = GroupSpec.of("world", 0, 2, Duration.ofSeconds(20));

    private static RankContext context(String rank, String ranks, String served) {
        return SystemContext.of(Map.of("RANK", rank, "WORLD_SIZE", ranks, "FERRO_STORE_SERVED", served));
    }

    @Test
    void theEndOfARankIsPublishedOnlyIfALauncherNumberedTheRanks() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (TcpStoreServer server = TcpStoreServer.start(loopback, 0, "app", 2, null);
                TcpStoreClient client = TcpStoreClient.open(
                        StoreAddress.of(new InetSocketAddress(loopback, server.port()), "app", null, 0),
                        Duration.ofSeconds(20))) {
            CompletableFuture<RankEnd> wrong = new CompletableFuture<>();
            for (RankContext other : new RankContext[] {
                context("1", "2", "1"), context("0", "3", "1"), context("0", "2", "0"), SystemContext.of(Map.of())
            }) {
                EndedRanks.of(client.store(), SPEC, other).when(1, wrong::complete);
            }
            CompletableFuture<RankEnd> heard = new CompletableFuture<>();
            CompletableFuture<RankEnd> again = new CompletableFuture<>();
            EndedRanks ends = EndedRanks.of(client.store(), SPEC, context("0", "2", "1"));
            ends.when(1, heard::complete);
            ends.when(1, again::complete);

            server.set(EndedRanks.key(1), EndedRanks.value(KILLED));

            assertEquals(KILLED, heard.get(20, TimeUnit.SECONDS));
            assertEquals(KILLED, again.get(20, TimeUnit.SECONDS));
            // answers come in the order of the questions
            assertFalse(wrong.isDone());
        }
    }

    @Test
    void aClosedStoreReportsNoEndOfARank() {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (TcpStoreServer server = TcpStoreServer.start(loopback, 0, "app", 2, null)) {
            TcpStoreClient client = TcpStoreClient.open(
                    StoreAddress.of(new InetSocketAddress(loopback, server.port()), "app", null, 0),
                    Duration.ofSeconds(20));
            EndedRanks ends = EndedRanks.of(client.store(), SPEC, context("0", "2", "1"));
            client.close();
            CompletableFuture<RankEnd> heard = new CompletableFuture<>();

            ends.when(1, heard::complete);

            assertFalse(heard.isDone());
        }
    }

    @Test
    void aValueThatIsNotAnEndIsRefused() {
        byte[] value = "17\nb".getBytes(StandardCharsets.UTF_8);

        assertThrows(IllegalArgumentException.class, () -> EndedRanks.end(value));
    }
}
