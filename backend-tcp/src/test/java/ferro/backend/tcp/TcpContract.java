package ferro.backend.tcp;

import ferro.Backend;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.tck.BackendContract;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;

/** The shared contract over sockets of the loopback interface: every rank joins as a process of its own would. */
abstract class TcpContract extends BackendContract {
    private final String io;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    TcpContract(String io) {
        this.io = io;
    }

    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        opened.push(server);
        Map<String, String> settings = Map.of(
                "ferro.backend",
                "tcp",
                "ferro.rendezvous",
                "tcp://127.0.0.1:" + server.port(),
                "ferro.tcp.io",
                io,
                "FERRO_STORE_SERVED",
                "1");
        List<CompletableFuture<Backend>> joining = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            SystemContext context = SystemContext.of(settings);
            opened.push(context);
            GroupSpec spec = new GroupSpec("world", rank, worldSize, Duration.ofSeconds(60));
            joining.add(Threads.start(() -> ProcessGroup.join(spec, context).backend()));
        }
        return joining.stream().map(Ranks::result).toList();
    }

    @AfterEach
    void closeStoresAndContexts() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
