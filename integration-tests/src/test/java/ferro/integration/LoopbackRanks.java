package ferro.integration;

import ferro.backend.tcp.TcpStoreServer;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Has ranks of this JVM join, each in a context of its own as a process would; closes their stores and contexts. */
final class LoopbackRanks implements AutoCloseable {
    final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "test-rank");
        thread.setDaemon(true);
        return thread;
    });
    private final Map<String, String> common;
    private final Consumer<SystemContext> prepare;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Over back end tcp where these settings name no other. */
    LoopbackRanks(Map<String, String> common) {
        this(common, context -> {});
    }

    /** Prepares the context of each rank before the rank joins. */
    LoopbackRanks(Map<String, String> common, Consumer<SystemContext> prepare) {
        this.common = common;
        this.prepare = prepare;
    }

    /** Starts joining by a store of their own; index = rank. */
    List<Future<ProcessGroup>> join(Duration timeout, List<Map<String, String>> settingsByRank) {
        int worldSize = settingsByRank.size();
        TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        opened.push(server);
        List<Future<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            Map<String, String> settings = new HashMap<>(Map.of(
                    "ferro.backend", "tcp",
                    "ferro.rendezvous", "tcp://127.0.0.1:" + server.port(),
                    "FERRO_STORE_SERVED", "1"));
            settings.putAll(common);
            settings.putAll(settingsByRank.get(rank));
            SystemContext context = SystemContext.of(settings);
            opened.push(context);
            prepare.accept(context);
            GroupSpec spec = GroupSpec.of("world", rank, worldSize, timeout);
            joining.add(threads.submit(() -> Groups.join(spec, context)));
        }
        return joining;
    }

    List<ProcessGroup> joined(Duration timeout, List<Map<String, String>> settingsByRank) {
        return join(timeout, settingsByRank).stream()
                .map(InProcessRanks::result)
                .toList();
    }

    @Override
    public void close() {
        threads.shutdown();
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception failure) {
                throw new AssertionError("cannot close what was opened for the ranks", failure);
            }
        }
    }
}
