package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.TcpStoreClient.StoreAddress;
import ferro.backend.tcp.mesh.Ranks;
import ferro.spi.PortRange;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process tells the one that serves the store something beside the groups that it joins. */
@Timeout(60)
class TcpStoreClientTest {
    private static final byte[] SECRET = "0123456789abcdefghijklmnopqrstuv".getBytes(StandardCharsets.US_ASCII);
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private static TcpStoreServer server() {
        return TcpStoreServer.start(LOOPBACK, PortRange.of("0"), "app.1", 1, SECRET);
    }

    private static StoreAddress at(TcpStoreServer server, String job, byte[] secret) {
        return StoreAddress.of(new InetSocketAddress(LOOPBACK, server.port()), job, secret, 0);
    }

    @Test
    void theServerReceivesWhatAClientSets() {
        CompletableFuture<String> found = new CompletableFuture<>();
        CompletableFuture<String> heardLater = new CompletableFuture<>();
        try (TcpStoreServer server = server()) {
            server.onSet((key, value) -> found.complete(key + "=" + new String(value, StandardCharsets.US_ASCII)));
            try (TcpStoreClient client = TcpStoreClient.open(at(server, "app.1", SECRET), Duration.ofSeconds(20))) {
                client.store().set("@spark/progress/3", "step 7".getBytes(StandardCharsets.US_ASCII));
                assertEquals("@spark/progress/3=step 7", Ranks.result(found));
                server.onSet((key, value) -> heardLater.complete(key));
                assertEquals("@spark/progress/3", Ranks.result(heardLater));
                assertFalse(server.allJoined().toCompletableFuture().isDone(), "the client counts as a rank");
            }
        }
    }

    @Test
    void aClientOfAnotherJobOrSecretIsRefused() {
        CompletableFuture<String> found = new CompletableFuture<>();
        try (TcpStoreServer server = server()) {
            Duration timeout = Duration.ofSeconds(20);
            server.onOtherJob((job, from) -> found.complete(job + " from " + from));

            FerroException stranger =
                    assertThrows(FerroException.class, () -> TcpStoreClient.open(at(server, "app.1", null), timeout));
            FerroException older =
                    assertThrows(FerroException.class, () -> TcpStoreClient.open(at(server, "app.0", SECRET), timeout));

            assertEquals(Code.UNAUTHENTICATED, stranger.code(), stranger.getMessage());
            assertEquals(Code.RENDEZVOUS, older.code(), older.getMessage());
            assertEquals("app.0 from 127.0.0.1", Ranks.result(found));
        }
    }
}
