package ferro.segments;

import ferro.backend.simulated.SimulatedBackend;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Two ranks of this JVM over a medium: {@code simulated}, {@code tcp} or {@code shm}. */
final class MediumRanks implements AutoCloseable {
    static final int RANKS = 2;
    private static final Duration TIMEOUT = Duration.ofSeconds(150);

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "test-rank");
        thread.setDaemon(true);
        return thread;
    });
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final List<ProcessGroup> groups = new ArrayList<>();

    /** Code of one rank. */
    interface RankCode {
        void run(ProcessGroup group) throws Exception;
    }

    static MediumRanks over(String medium) {
        MediumRanks ranks = new MediumRanks();
        if (medium.equals("simulated")) {
            SimulatedBackend.createGroup(RANKS).forEach(backend -> ranks.groups.add(ProcessGroup.of(backend)));
        } else {
            ranks.join(medium);
        }
        return ranks;
    }

    private void join(String links) {
        TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", RANKS, null);
        opened.push(server);
        List<Future<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            SystemContext context = SystemContext.of(Map.of(
                    "ferro.backend",
                    "tcp",
                    "ferro.links",
                    links,
                    // a container may have only 64 MiB in /dev/shm
                    "ferro.shm.dir",
                    System.getProperty("java.io.tmpdir"),
                    "ferro.rendezvous",
                    "tcp://127.0.0.1:" + server.port(),
                    "FERRO_STORE_SERVED",
                    "1"));
            opened.push(context);
            GroupSpec spec = GroupSpec.of("world", rank, RANKS, TIMEOUT);
            joining.add(threads.submit(() -> Groups.join(spec, context)));
        }
        joining.forEach(each -> groups.add(result(each)));
    }

    ProcessGroup group(int rank) {
        return groups.get(rank);
    }

    /** Runs code on every rank at once, and waits until all ranks have ended without an exception. */
    void run(RankCode code) {
        List<Future<?>> running = new ArrayList<>();
        for (ProcessGroup group : groups) {
            running.add(start(() -> {
                code.run(group);
                return null;
            }));
        }
        running.forEach(MediumRanks::result);
    }

    <T> Future<T> start(Callable<T> code) {
        return threads.submit(code);
    }

    static <T> T result(Future<T> future) {
        try {
            return future.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw new AssertionError("a rank failed: " + failed.getCause(), failed.getCause());
        } catch (InterruptedException | TimeoutException late) {
            throw new AssertionError("not done within " + TIMEOUT, late);
        }
    }

    @Override
    public void close() {
        List<Future<?>> closing = new ArrayList<>();
        for (ProcessGroup group : groups) {
            closing.add(threads.submit(() -> {
                try {
                    group.close(Duration.ofSeconds(2));
                } catch (RuntimeException failure) {
                    // a test that fails its group on purpose has looked at the failure
                    if (group.failure().isEmpty()) {
                        throw failure;
                    }
                }
            }));
        }
        closing.forEach(MediumRanks::result);
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
