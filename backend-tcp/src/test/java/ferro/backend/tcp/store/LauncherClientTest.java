package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.BackgroundLoop;
import ferro.backend.tcp.net.Credentials;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.TcpDialer;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.group.SystemContext;
import io.netty.channel.Channel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the store's server tells by itself of launchers that come, go and are refused. */
@Timeout(60)
class LauncherClientTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final byte[] SECRET = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    @Test
    void theEndOfALaunchersConnectionSetsAKeyOfItsSession() throws Exception {
        try (TcpStoreServer server = server();
                LauncherClient stays = open(server, SECRET, 0, 7)) {
            LauncherClient first = open(server, SECRET, 1, 8);
            CompletableFuture<byte[]> other =
                    stays.store().when(LauncherClient.goneKey(1, 9)).toCompletableFuture();
            try (LauncherClient second = open(server, SECRET, 1, 9)) {
                first.close();

                stays.store().get(LauncherClient.goneKey(1, 8), PATIENCE);
                second.store().add("a", 1);
                stays.store().add("a", 1); // what was told before this answer has come
                assertFalse(other.isDone(), "the second launcher of node 1 is still there");
            }
            stays.store().get(LauncherClient.goneKey(1, 9), PATIENCE);
            assertTrue(other.isDone());
            assertEquals(InetAddress.getByName("127.0.0.1"), stays.localAddress());
        }
    }

    @Test
    void aLauncherWithAWrongSecretSetsAKeyWithItsAddress() throws Exception {
        try (TcpStoreServer server = server();
                LauncherClient stays = open(server, SECRET, 0, 7)) {
            byte[] wrong = "fedcba9876543210".getBytes(StandardCharsets.US_ASCII);

            FerroException refused = assertThrows(FerroException.class, () -> open(server, wrong, 3, 8));

            assertEquals(Code.UNAUTHENTICATED, refused.code());
            assertTrue(refused.getMessage().contains("of the launcher of node 3"), refused.getMessage());
            assertTrue(LauncherClient.isRefusal(refused));
            LauncherClient.RefusedProcess noted = noted(stays, LauncherClient.refusedKey(3));
            assertEquals("127.0.0.1", noted.address());
            assertEquals(Code.UNAUTHENTICATED, noted.code());
            assertTrue(noted.told().startsWith("the proof is wrong"), noted.told());
        }
    }

    @Test
    void aLauncherOfAnotherJobSetsAKeyWithItsRefusal() throws Exception {
        try (TcpStoreServer server = server();
                LauncherClient stays = open(server, SECRET, 0, 7)) {
            LauncherClient.ConnectOptions other = new LauncherClient.ConnectOptions(at(server), "other", SECRET, 2, 8);

            FerroException refused =
                    assertThrows(FerroException.class, () -> LauncherClient.open(other, PATIENCE, PATIENCE));

            assertEquals(Code.RENDEZVOUS, refused.code());
            LauncherClient.RefusedProcess noted = noted(stays, LauncherClient.otherJobKey(2));
            assertEquals(Code.RENDEZVOUS, noted.code());
            assertTrue(refused.getMessage().endsWith(noted.told()), noted.told());
            assertTrue(noted.told().startsWith("this is job \"job\", you belong to job \"other\""), noted.told());
        }
    }

    @Test
    void aCallThatEndsBeforeItsLoopReportsAllAttempts() throws Exception {
        LateLoop late = new LateLoop();
        SocketConfig io = SocketConfig.standard();
        try (Socket silent = new Socket();
                BackgroundLoop loop = new BackgroundLoop(io, "late")) {
            // bound, and nobody listens: the port is refused, and nobody else can have it
            silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            TcpDialer.DialledPeer call = peer(
                    () -> List.of(late.address((InetSocketAddress) silent.getLocalSocketAddress())),
                    LateLoop.PASSES_NANOS / 2);

            FerroException missing = assertThrows(
                    FerroException.class,
                    () -> LauncherClient.dialled(
                            new TcpDialer(io, loop.group(), own(Secret.none()), late.now::get),
                            call,
                            LateLoop.PASSES_NANOS,
                            late::callersClock));
            late.goesOn.countDown();

            assertEquals(Code.RENDEZVOUS, missing.code());
            String text = missing.getMessage();
            assertTrue(
                    text.startsWith("cannot connect to the store within 60000 ms (2 attempts, last: refused: "), text);
        }
    }

    @Test
    void silentAndRefusingAddressesOnlyDelayAConnection() throws Exception {
        try (TcpStoreServer server = server();
                Closed silent = Closed.full("127.0.0.2");
                Closed refusing = Closed.bound("127.0.0.3")) {
            assertEquals(at(server), dialled(List.of(silent.at(), refusing.at(), at(server))));
        }
    }

    @Test
    void anAddressThatEndsTheConnectionIsTriedLast() throws Exception {
        try (TcpStoreServer server = server();
                ServerSocket other = new ServerSocket(0, 0, AddressLookup.literal("127.0.0.2"))) {
            CompletableFuture<Void> ending = CompletableFuture.runAsync(() -> {
                try {
                    other.accept().close();
                } catch (IOException closed) {
                    throw new UncheckedIOException(closed);
                }
            });

            assertEquals(at(server), dialled(List.of((InetSocketAddress) other.getLocalSocketAddress(), at(server))));
            ending.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** The server lets the launcher in, and its answer comes when the launcher has given that attempt up. */
    @Test
    void aLauncherThatConnectsAgainIsNotReportedGone() throws Exception {
        CountDownLatch until = new CountDownLatch(1);
        SocketConfig hasty = SocketConfig.of(SystemContext.of(Map.of("ferro.tcp.handshake.timeout", "200ms")));
        try (TcpProxy proxy = new TcpProxy();
                BackgroundLoop loop = new BackgroundLoop(hasty, "hasty");
                TcpStoreServer server = TcpStoreServer.start(
                        InetAddress.getByName("127.0.0.1"), proxy.at().getPort(), "job", 4, SECRET);
                LauncherClient stays = open(server, SECRET, 0, 7)) {
            int challengeBytes = 68;
            proxy.holdAnswers(1, (data, from, length) -> from == challengeBytes, until);

            assertEquals(proxy.at(), dialled(hasty, loop, List.of(proxy.at())));
            until.countDown();
            proxy.awaitHeldEnds();

            assertEquals(0, proxy.answersToHold());
            assertNull(stays.store().compareAndSet(LauncherClient.goneKey(1, 8), "none".getBytes(), new byte[0]));
        } finally {
            until.countDown();
        }
    }

    /** The limit while nothing listens does not end a handshake that takes longer. */
    @Test
    void aSlowServerIsNotReportedMissing() throws Exception {
        try (TcpProxy proxy = new TcpProxy();
                TcpStoreServer server = TcpStoreServer.start(
                        InetAddress.getByName("127.0.0.1"), proxy.at().getPort(), "job", 4, SECRET)) {
            proxy.delay(Duration.ofMillis(300));
            LauncherClient.ConnectOptions call = new LauncherClient.ConnectOptions(proxy.at(), "job", SECRET, 0, 7);

            try (LauncherClient store = LauncherClient.open(call, Duration.ofMillis(50), PATIENCE, PATIENCE)) {
                assertEquals(server.port(), proxy.at().getPort());
                assertEquals(1, store.store().add("a", 1));
            }
        }
    }

    @Test
    void anAddressWithoutAListenerIsGivenUpAfterTheShorterLimit() throws Exception {
        try (Socket bound = new Socket()) {
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            LauncherClient.ConnectOptions call = new LauncherClient.ConnectOptions(
                    (InetSocketAddress) bound.getLocalSocketAddress(), "job", SECRET, 1, 8);

            FerroException missing = assertThrows(
                    FerroException.class,
                    () -> LauncherClient.open(call, Duration.ofMillis(50), Duration.ofDays(1), PATIENCE));

            assertEquals(Code.RENDEZVOUS, missing.code(), missing.getMessage());
            assertTrue(missing.getMessage().contains("last: refused: nothing listens there"), missing.getMessage());
        }
    }

    /** A connection that is reset has no reader before the store takes it over. */
    @Test
    void aConnectionThatEndsBeforeItsStoreFailsEachCall() throws Exception {
        SocketConfig io = SocketConfig.standard();
        FerroException.Where where = FerroException.Where.of("launchers", 1);
        try (TcpStoreServer server = server();
                BackgroundLoop loop = new BackgroundLoop(io, "ended")) {
            Channel channel = channel(io, loop, List.of(at(server)));
            channel.close().await();
            TcpStore store = new TcpStore(
                    channel,
                    new TcpStore.StoreOptions(
                            "the store", where, System::nanoTime, System::nanoTime, PATIENCE, false, () -> {}));

            FerroException asked =
                    assertThrows(FerroException.class, () -> store.compareAndSet("key", null, new byte[1]));
            FerroException waiting = assertThrows(FerroException.class, () -> store.get("key", PATIENCE));

            assertTrue(asked.getMessage().startsWith("the store went away"), asked.getMessage());
            assertTrue(waiting.getMessage().startsWith("the store went away"), waiting.getMessage());
            assertTrue(store.isLost());
        }
    }

    /** Returns the address to which a connection was made. */
    private static SocketAddress dialled(List<InetSocketAddress> known) throws Exception {
        SocketConfig io = SocketConfig.standard();
        try (BackgroundLoop loop = new BackgroundLoop(io, "several")) {
            return dialled(io, loop, known);
        }
    }

    private static SocketAddress dialled(SocketConfig io, BackgroundLoop loop, List<InetSocketAddress> known) {
        return channel(io, loop, known).remoteAddress();
    }

    private static Channel channel(SocketConfig io, BackgroundLoop loop, List<InetSocketAddress> known) {
        TcpDialer.DialledPeer call = peer(() -> known, System.nanoTime() + PATIENCE.toNanos());
        TcpDialer dialer = new TcpDialer(io, loop.group(), own(Secret.of(SECRET)), System::nanoTime);
        return LauncherClient.dialled(dialer, call, PATIENCE.toNanos(), System::nanoTime);
    }

    private static Credentials own(Secret secret) {
        TlsPolicy plain = TlsPolicy.of(TlsPolicy.TlsMode.OFF, "job", "launcher/1");
        return new Credentials("job", secret, new SecureRandom(), plain);
    }

    private static TcpDialer.DialledPeer peer(Supplier<List<InetSocketAddress>> known, long deadline) {
        return new TcpDialer.DialledPeer(
                known,
                Hello.ConnectionKind.STORE,
                Hello.RankPair.ofLauncher(1, 8),
                Hello.ChannelIdentity.NONE,
                "the store",
                FerroException.Where.of("launchers", 1),
                deadline);
    }

    /** An address of this machine that makes no connection. */
    private record Closed(List<Socket> held, ServerSocket full, InetSocketAddress at) implements AutoCloseable {
        /** Returns an address that refuses: the port is bound, and nobody listens. */
        static Closed bound(String host) throws IOException {
            Socket bound = new Socket();
            bound.bind(new InetSocketAddress(host, 0));
            return new Closed(List.of(bound), null, (InetSocketAddress) bound.getLocalSocketAddress());
        }

        /** Returns an address that does not answer: the kernel drops what comes for a full queue of connections. */
        static Closed full(String host) throws IOException {
            ServerSocket listening = new ServerSocket(0, 1, AddressLookup.literal(host));
            InetSocketAddress at = (InetSocketAddress) listening.getLocalSocketAddress();
            List<Socket> held = new ArrayList<>();
            try {
                while (held.size() < 100) {
                    Socket one = new Socket();
                    held.add(one);
                    one.connect(at, 200);
                }
            } catch (SocketTimeoutException isFull) {
                return new Closed(held, listening, at);
            }
            throw new IllegalStateException("a queue for one connection took " + held.size());
        }

        @Override
        public void close() throws IOException {
            for (Socket one : held) {
                one.close();
            }
            if (full != null) {
                full.close();
            }
        }
    }

    /** A loop that hangs in its third attempt; until then no time passes, and after it more than the caller has. */
    private static final class LateLoop {
        static final long PASSES_NANOS = TimeUnit.SECONDS.toNanos(60);

        final AtomicLong now = new AtomicLong();
        final CountDownLatch goesOn = new CountDownLatch(1);
        private final CountDownLatch hangs = new CountDownLatch(1);
        private final Thread caller = Thread.currentThread();
        private int attempts;
        private int asked;

        InetSocketAddress address(InetSocketAddress given) {
            attempts++;
            if (attempts == 3) {
                hangs.countDown();
                await(goesOn);
            }
            return given;
        }

        /** The caller asks twice before it dials, and then how long to wait. */
        long callersClock() {
            if (Thread.currentThread() == caller && ++asked > 2) {
                await(hangs);
                now.set(PASSES_NANOS);
            }
            return now.get();
        }

        private static void await(CountDownLatch latch) {
            try {
                assertTrue(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS), "not so far after " + PATIENCE);
            } catch (InterruptedException interrupted) {
                throw new AssertionError("interrupted", interrupted);
            }
        }
    }

    @Test
    void onlyAProcessOfAnotherVersionSetsAKey() throws Exception {
        byte[] opening = {(byte) 0xF3, 'f', 'e', 'r', 'r', 'o', '\r', '\n', 0, 3, 0, 69};
        try (TcpStoreServer server = server();
                LauncherClient stays = open(server, SECRET, 0, 7)) {
            for (boolean ferro : List.of(false, true)) {
                opening[1] = (byte) (ferro ? 'f' : 'x');
                try (Socket socket = new Socket(at(server).getAddress(), server.port())) {
                    socket.getOutputStream().write(opening);
                    socket.getInputStream().readAllBytes();
                }
                byte[] there = stays.store().compareAndSet(LauncherClient.STRANGER, "none".getBytes(), new byte[0]);
                assertEquals(ferro, there != null);
            }
            LauncherClient.RefusedProcess noted = noted(stays, LauncherClient.STRANGER);
            assertEquals(Code.PROTOCOL, noted.code());
            assertTrue(noted.told().contains("yours is 3"), noted.told());
        }
    }

    @Test
    void refusedLaunchersDoNotFillTheStore() throws Exception {
        try (TcpStoreServer server = server();
                LauncherClient stays = open(server, SECRET, 0, 7)) {
            for (int node = 0; node <= StoreService.MOST_STRANGERS; node++) {
                byte[] hello = new Hello(
                                Hello.ConnectionKind.STORE,
                                "other",
                                Hello.RankPair.ofLauncher(node, 8),
                                Hello.ChannelIdentity.NONE,
                                new Hello.HelloOptions(true, false),
                                new Hello.AttemptId(1, 1, new byte[Hello.NONCE_BYTES]))
                        .encoded();
                try (Socket socket = new Socket(at(server).getAddress(), server.port())) {
                    socket.getOutputStream().write(hello);
                    socket.getInputStream().readAllBytes();
                }
            }
            noted(stays, LauncherClient.otherJobKey(StoreService.MOST_STRANGERS - 1));
            String beyond = LauncherClient.otherJobKey(StoreService.MOST_STRANGERS);
            assertNull(stays.store().compareAndSet(beyond, "none".getBytes(), new byte[0]));
        }
    }

    private static LauncherClient.RefusedProcess noted(LauncherClient store, String key) {
        return LauncherClient.RefusedProcess.decoded(store.store().get(key, PATIENCE));
    }

    private static InetSocketAddress at(TcpStoreServer server) {
        return new InetSocketAddress("127.0.0.1", server.port());
    }

    private static TcpStoreServer server() throws Exception {
        return TcpStoreServer.start(InetAddress.getByName("127.0.0.1"), 0, "job", 4, SECRET);
    }

    private static LauncherClient open(TcpStoreServer server, byte[] secret, int node, long session) {
        return LauncherClient.open(
                new LauncherClient.ConnectOptions(at(server), "job", secret, node, session), PATIENCE, PATIENCE);
    }
}
