package ferro.launcher.nodes;

import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.store.LauncherClient;
import ferro.backend.tcp.store.LauncherClient.ConnectOptions;
import ferro.launcher.nodes.LauncherConnections.WaitTimeouts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A store on loopback, and launchers that connect to it, all in this JVM. */
abstract class LaunchersOnLoopback {
    static final Duration LONG = Duration.ofSeconds(30);
    static final WaitTimeouts LONG_TIMES = new WaitTimeouts(LONG, LONG, LONG);
    static final byte[] SECRET = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    static final byte[] WRONG = "fedcba9876543210".getBytes(StandardCharsets.US_ASCII);

    final List<AutoCloseable> open = new ArrayList<>();
    TcpStoreServer server;
    private long sessions = 100;

    /** Keeps the texts of refused processes that node 0 gets. */
    record Listening(Collection<String> heard) implements WaitListener {
        @Override
        public void missing(Set<Integer> nodes) {}

        @Override
        public void refused(String text) {
            heard.add(text);
        }
    }

    @BeforeEach
    void serve() throws Exception {
        server = TcpStoreServer.start(InetAddress.getByName("127.0.0.1"), 0, "job", 4, SECRET);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
        server.close();
    }

    LauncherEntry entry(int node, int ranks, int nodes, String version, String debug, String restarts) {
        String address = "127.0.0." + (node + 1);
        return new LauncherEntry(
                node, "h" + node, address, ranks, nodes, version, "", debug, sessions++, "", restarts, 0);
    }

    LauncherClient connected(LauncherEntry entry) {
        LauncherClient connection = connected("job", SECRET, entry.node(), entry.session());
        open.add(connection);
        return connection;
    }

    LauncherClient connected(String job, byte[] secret, int node, long session) {
        InetSocketAddress at = new InetSocketAddress("127.0.0.1", server.port());
        return LauncherClient.open(new ConnectOptions(at, job, secret, node, session), LONG, LONG);
    }

    /** Says what every version begins with: magic, version, length. Returns the number of bytes of the answer. */
    int speakVersionThree() throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
            socket.getOutputStream().write(new byte[] {(byte) 0xF3, 'f', 'e', 'r', 'r', 'o', '\r', '\n', 0, 3, 0, 69});
            return socket.getInputStream().readAllBytes().length;
        }
    }

    static <T> T result(CompletableFuture<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }
}
