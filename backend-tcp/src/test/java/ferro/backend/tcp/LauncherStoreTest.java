package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the store's server tells by itself of launchers that come, go and are refused. */
@Timeout(60)
class LauncherStoreTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final byte[] SECRET = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    @Test
    void endOfALaunchersConnectionIsAKeyOfItsOwnSession() throws Exception {
        try (TcpStoreServer server = server();
                LauncherStore stays = open(server, SECRET, 0, 7)) {
            LauncherStore first = open(server, SECRET, 1, 8);
            CompletableFuture<byte[]> other =
                    stays.store().when(LauncherStore.goneKey(1, 9)).toCompletableFuture();
            try (LauncherStore second = open(server, SECRET, 1, 9)) {
                first.close();

                stays.store().get(LauncherStore.goneKey(1, 8), PATIENCE);
                second.store().add("a", 1);
                assertFalse(other.isDone(), "the second launcher of node 1 is still there");
            }
            stays.store().get(LauncherStore.goneKey(1, 9), PATIENCE);
            assertTrue(other.isDone());
            assertEquals(InetAddress.getByName("127.0.0.1"), stays.localAddress());
        }
    }

    @Test
    void launcherThatDoesNotKnowTheSecretIsAKeyWithItsAddress() throws Exception {
        try (TcpStoreServer server = server();
                LauncherStore stays = open(server, SECRET, 0, 7)) {
            byte[] wrong = "fedcba9876543210".getBytes(StandardCharsets.US_ASCII);

            FerroException refused = assertThrows(FerroException.class, () -> open(server, wrong, 3, 8));

            assertEquals(Code.UNAUTHENTICATED, refused.code());
            assertTrue(refused.getMessage().contains("of the launcher of node 3"), refused.getMessage());
            byte[] from = stays.store().get(LauncherStore.refusedKey(3), PATIENCE);
            assertEquals("127.0.0.1", new String(from, StandardCharsets.US_ASCII));
        }
    }

    private static TcpStoreServer server() throws Exception {
        return TcpStoreServer.start(InetAddress.getByName("127.0.0.1"), 0, "job", 4, SECRET);
    }

    private static LauncherStore open(TcpStoreServer server, byte[] secret, int node, long session) {
        InetSocketAddress at = new InetSocketAddress("127.0.0.1", server.port());
        return LauncherStore.open(new LauncherStore.Call(at, "job", secret, node, session), PATIENCE, PATIENCE);
    }
}
