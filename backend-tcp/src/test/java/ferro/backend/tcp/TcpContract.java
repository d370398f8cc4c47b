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
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        return join(Collections.nCopies(worldSize, Map.of()));
    }

    @Override
    protected Optional<List<? extends Backend>> createGroup(List<Map<String, String>> settingsByRank) {
        return Optional.of(join(settingsByRank));
    }

    private List<? extends Backend> join(List<Map<String, String>> settingsByRank) {
        int worldSize = settingsByRank.size();
        TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        opened.push(server);
        List<CompletableFuture<Backend>> joining = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            SystemContext context = SystemContext.of(settings(server, settingsByRank.get(rank)));
            opened.push(context);
            GroupSpec spec = new GroupSpec("world", rank, worldSize, Duration.ofSeconds(60));
            joining.add(Threads.start(() -> ProcessGroup.join(spec, context).backend()));
        }
        return joining.stream().map(Ranks::result).toList();
    }

    private Map<String, String> settings(TcpStoreServer server, Map<String, String> own) {
        Map<String, String> settings = new HashMap<>(own);
        settings.put("ferro.backend", "tcp");
        settings.put("ferro.rendezvous", "tcp://127.0.0.1:" + server.port());
        settings.put("ferro.tcp.io", io);
        settings.put("FERRO_STORE_SERVED", "1");
        return settings;
    }

    @AfterEach
    void closeStoresAndContexts() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
