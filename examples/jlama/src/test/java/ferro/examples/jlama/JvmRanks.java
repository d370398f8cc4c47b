package ferro.examples.jlama;

import ferro.backend.tcp.TcpStoreServer;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Ranks of this JVM, each on its own thread, over {@code tcp} or {@code shm}. */
final class JvmRanks {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);

    private JvmRanks() {}

    /** Code of one rank. */
    interface RankCode<T> {
        T run(ProcessGroup group) throws Exception;
    }

    /** Runs code on all ranks, and returns the result of each rank. */
    static <T> List<T> run(int ranks, String links, RankCode<T> code) {
        return run(ranks, Map.of("ferro.links", links), code);
    }

    /** Runs code on all ranks with settings, and returns the result of each rank. */
    static <T> List<T> run(int ranks, Map<String, String> settings, RankCode<T> code) {
        try (TcpStoreServer store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", ranks, null);
                ExecutorService threads = Executors.newThreadPerTaskExecutor(
                        Thread.ofPlatform().name("test-rank-", 0).daemon().factory())) {
            List<Callable<T>> each = new ArrayList<>();
            for (int rank = 0; rank < ranks; rank++) {
                GroupSpec spec = GroupSpec.of("world", rank, ranks, TIMEOUT);
                each.add(() -> {
                    try (SystemContext context = SystemContext.of(withStore(settings, store.port()));
                            ProcessGroup group = Groups.join(spec, context)) {
                        return code.run(group);
                    }
                });
            }
            return each.stream().map(threads::submit).toList().stream()
                    .map(JvmRanks::result)
                    .toList();
        }
    }

    private static Map<String, String> withStore(Map<String, String> settings, int port) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("ferro.backend", "tcp");
        // a container may have only 64 MiB in /dev/shm
        all.put("ferro.shm.dir", System.getProperty("java.io.tmpdir"));
        all.put("ferro.rendezvous", "tcp://127.0.0.1:" + port);
        all.put("FERRO_STORE_SERVED", "1");
        return all;
    }

    private static <T> T result(Future<T> future) {
        try {
            return future.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw new AssertionError("a rank failed: " + failed.getCause(), failed.getCause());
        } catch (InterruptedException | TimeoutException late) {
            throw new AssertionError("not done within " + TIMEOUT, late);
        }
    }
}
