package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.connect.BackgroundLoop;
import ferro.backend.tcp.connect.Credentials;
import ferro.backend.tcp.connect.Hello;
import ferro.backend.tcp.connect.Secret;
import ferro.backend.tcp.connect.TcpDialer;
import ferro.backend.tcp.connect.TcpIo;
import ferro.backend.tcp.connect.TlsPolicy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
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
            assertTrue(LauncherStore.isRefusal(refused));
            LauncherStore.Refused noted = noted(stays, LauncherStore.refusedKey(3));
            assertEquals("127.0.0.1", noted.address());
            assertEquals(Code.UNAUTHENTICATED, noted.code());
            assertTrue(noted.told().startsWith("the proof is wrong"), noted.told());
        }
    }

    @Test
    void launcherOfAnotherJobIsAKeyWithWhatItWasTold() throws Exception {
        try (TcpStoreServer server = server();
                LauncherStore stays = open(server, SECRET, 0, 7)) {
            LauncherStore.LauncherCall other = new LauncherStore.LauncherCall(at(server), "other", SECRET, 2, 8);

            FerroException refused =
                    assertThrows(FerroException.class, () -> LauncherStore.open(other, PATIENCE, PATIENCE));

            assertEquals(Code.RENDEZVOUS, refused.code());
            LauncherStore.Refused noted = noted(stays, LauncherStore.otherJobKey(2));
            assertEquals(Code.RENDEZVOUS, noted.code());
            assertTrue(refused.getMessage().endsWith(noted.told()), noted.told());
            assertTrue(noted.told().startsWith("job \"job\" is here, yours is \"other\""), noted.told());
        }
    }

    @Test
    void callerThatEndsBeforeALateLoopSaysHowTheAttemptsEnded() throws Exception {
        InetSocketAddress nobody;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = (InetSocketAddress) taken.getLocalSocketAddress();
        }
        CompletableFuture<Void> late = new CompletableFuture<>();
        AtomicInteger attempts = new AtomicInteger();
        TcpIo io = TcpIo.standard();
        try (BackgroundLoop loop = new BackgroundLoop(io, "late")) {
            TlsPolicy plain = TlsPolicy.of(TlsPolicy.TlsUse.OFF, "job", "launcher/1");
            Credentials own = new Credentials("job", Secret.none(), new SecureRandom(), plain);
            TcpDialer.DialledPeer call = new TcpDialer.DialledPeer(
                    () -> {
                        if (attempts.incrementAndGet() == 3) {
                            late.join();
                        }
                        return nobody;
                    },
                    Hello.ConnectionKind.STORE,
                    Hello.Peering.ofLauncher(1, 8),
                    Hello.ChannelIdentity.NONE,
                    "the store",
                    FerroException.Where.outside("launchers", 1),
                    System.nanoTime() + 200_000_000);

            FerroException missing = assertThrows(
                    FerroException.class,
                    () -> LauncherStore.dialled(new TcpDialer(io, loop.group(), own, System::nanoTime), call));
            late.complete(null);

            assertEquals(Code.RENDEZVOUS, missing.code());
            String text = missing.getMessage();
            assertTrue(
                    text.matches("(?s)cannot connect to the store within \\d+ ms \\(3 attempts, last: refused: .*"),
                    text);
        }
    }

    @Test
    void processOfAnotherVersionIsAKeyAndNobodyElseIs() throws Exception {
        byte[] opening = {(byte) 0xF3, 'f', 'e', 'r', 'r', 'o', '\r', '\n', 0, 3, 0, 69};
        try (TcpStoreServer server = server();
                LauncherStore stays = open(server, SECRET, 0, 7)) {
            for (boolean ferro : List.of(false, true)) {
                opening[1] = (byte) (ferro ? 'f' : 'x');
                try (Socket socket = new Socket(at(server).getAddress(), server.port())) {
                    socket.getOutputStream().write(opening);
                    socket.getInputStream().readAllBytes();
                }
                byte[] there = stays.store().compareAndSet(LauncherStore.STRANGER, "none".getBytes(), new byte[0]);
                assertEquals(ferro, there != null);
            }
            LauncherStore.Refused noted = noted(stays, LauncherStore.STRANGER);
            assertEquals(Code.PROTOCOL, noted.code());
            assertTrue(noted.told().contains("yours is 3"), noted.told());
        }
    }

    @Test
    void thoseWhoAreRefusedDoNotFillTheStore() throws Exception {
        try (TcpStoreServer server = server();
                LauncherStore stays = open(server, SECRET, 0, 7)) {
            for (int node = 0; node <= StoreService.MOST_STRANGERS; node++) {
                byte[] hello = new Hello(
                                Hello.ConnectionKind.STORE,
                                "other",
                                Hello.Peering.ofLauncher(node, 8),
                                Hello.ChannelIdentity.NONE,
                                new Hello.HelloOptions(true, false),
                                new byte[Hello.NONCE_BYTES])
                        .encoded();
                try (Socket socket = new Socket(at(server).getAddress(), server.port())) {
                    socket.getOutputStream().write(hello);
                    socket.getInputStream().readAllBytes();
                }
            }
            noted(stays, LauncherStore.otherJobKey(StoreService.MOST_STRANGERS - 1));
            String beyond = LauncherStore.otherJobKey(StoreService.MOST_STRANGERS);
            assertNull(stays.store().compareAndSet(beyond, "none".getBytes(), new byte[0]));
        }
    }

    private static LauncherStore.Refused noted(LauncherStore store, String key) {
        return LauncherStore.Refused.decoded(store.store().get(key, PATIENCE));
    }

    private static InetSocketAddress at(TcpStoreServer server) {
        return new InetSocketAddress("127.0.0.1", server.port());
    }

    private static TcpStoreServer server() throws Exception {
        return TcpStoreServer.start(InetAddress.getByName("127.0.0.1"), 0, "job", 4, SECRET);
    }

    private static LauncherStore open(TcpStoreServer server, byte[] secret, int node, long session) {
        return LauncherStore.open(
                new LauncherStore.LauncherCall(at(server), "job", secret, node, session), PATIENCE, PATIENCE);
    }
}
