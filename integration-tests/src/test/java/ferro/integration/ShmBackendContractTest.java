package ferro.integration;

import ferro.Backend;
import ferro.backend.tcp.TcpStoreServer;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The shared contract over back end shm: ranks of this JVM, each joining and mapping as a process of its own would. A few rules,
 * all with {@code -Pdrill}.
 */
@ExtendWith(FewRules.class)
class ShmBackendContractTest extends BackendContract {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

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
        ExecutorService threads = Executors.newFixedThreadPool(worldSize);
        try {
            List<Future<Backend>> joining = new ArrayList<>();
            for (int rank = 0; rank < worldSize; rank++) {
                SystemContext context = SystemContext.of(settings(server, settingsByRank.get(rank)));
                opened.push(context);
                GroupSpec spec = new GroupSpec("world", rank, worldSize, Duration.ofSeconds(60));
                joining.add(
                        threads.submit(() -> ProcessGroup.join(spec, context).backend()));
            }
            return joining.stream().map(InProcessRanks::result).toList();
        } finally {
            threads.shutdown();
        }
    }

    private static Map<String, String> settings(TcpStoreServer server, Map<String, String> own) {
        Map<String, String> settings = new HashMap<>(own);
        settings.put("ferro.backend", "shm");
        settings.put("ferro.rendezvous", "tcp://127.0.0.1:" + server.port());
        // eight ranks need more than the 64 MiB that a container has in /dev/shm
        settings.put("ferro.shm.dir", System.getProperty("java.io.tmpdir"));
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
