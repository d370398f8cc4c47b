package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.backend.simulated.SimulatedBackend;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/** Ranks in this JVM, a thread each, over the simulated medium or over sockets; closes what it opened. */
final class InProcessRanks implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    final List<ProcessGroup> groups;
    final List<ConcurrentLinkedQueue<GroupEvent>> events = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "test-rank");
        thread.setDaemon(true);
        return thread;
    });
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private InProcessRanks(Function<InProcessRanks, List<ProcessGroup>> join) {
        this.groups = join.apply(this);
        for (ProcessGroup group : groups) {
            ConcurrentLinkedQueue<GroupEvent> heard = new ConcurrentLinkedQueue<>();
            events.add(heard);
            group.onEvent(heard::add);
        }
    }

    static InProcessRanks simulated(int worldSize) {
        return new InProcessRanks(ranks -> SimulatedBackend.createGroup(worldSize).stream()
                .map(ProcessGroup::of)
                .toList());
    }

    static InProcessRanks tcp(int worldSize) {
        return new InProcessRanks(ranks -> ranks.joinTcp(Collections.nCopies(worldSize, Map.of())));
    }

    /** Ranks that count as being on the hosts of these names. */
    static InProcessRanks onHosts(String... hosts) {
        return new InProcessRanks(ranks -> ranks.joinTcp(
                Stream.of(hosts).map(host -> Map.of("ferro.host", host)).toList()));
    }

    private List<ProcessGroup> joinTcp(List<Map<String, String>> ofRanks) {
        int worldSize = ofRanks.size();
        TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        opened.push(server);
        List<Future<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            Map<String, String> settings = new HashMap<>(ofRanks.get(rank));
            settings.put("ferro.backend", "tcp");
            settings.put("ferro.rendezvous", "tcp://127.0.0.1:" + server.port());
            settings.put("FERRO_STORE_SERVED", "1");
            SystemContext context = SystemContext.of(settings);
            opened.push(context);
            GroupSpec spec = new GroupSpec("world", rank, worldSize, Duration.ofSeconds(30));
            joining.add(threads.submit(() -> ProcessGroup.join(spec, context)));
        }
        return joining.stream().map(InProcessRanks::result).toList();
    }

    /** Runs something on a thread of a rank's. */
    Future<Ended> start(int rank, Consumer<ProcessGroup> call) {
        return start(groups.get(rank), call);
    }

    /** Runs something on a thread of its own. */
    Future<Ended> start(ProcessGroup group, Consumer<ProcessGroup> call) {
        return threads.submit(() -> {
            try {
                call.accept(group);
                return new Ended(null, System.nanoTime());
            } catch (FerroException failure) {
                return new Ended(failure, System.nanoTime());
            }
        });
    }

    /** Runs something on all ranks at once; index = rank. */
    List<Ended> all(Consumer<ProcessGroup> call) {
        List<Future<Ended>> running = new ArrayList<>();
        for (int rank = 0; rank < groups.size(); rank++) {
            running.add(start(rank, call));
        }
        return running.stream().map(InProcessRanks::result).toList();
    }

    /** Waits, within a bound, until something is so. */
    static void until(String what, BooleanSupplier so) {
        long begun = System.nanoTime();
        while (!so.getAsBoolean()) {
            assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS), what);
            Thread.yield();
        }
    }

    static <T> T result(Future<T> future) {
        try {
            return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw new AssertionError("a rank failed: " + failed.getCause(), failed.getCause());
        } catch (InterruptedException | TimeoutException late) {
            throw new AssertionError("not done within " + PATIENCE_SECONDS + " s", late);
        }
    }

    /**
     * How a rank's call ended.
     *
     * @param failure null if well
     * @param atNanos when
     */
    record Ended(FerroException failure, long atNanos) {}

    @Override
    public void close() {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        for (ProcessGroup group : groups) {
            closing.add(CompletableFuture.runAsync(() -> close(group), threads));
        }
        closing.forEach(InProcessRanks::result);
        threads.shutdownNow();
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception failure) {
                throw new AssertionError("cannot close what was opened for the ranks", failure);
            }
        }
    }

    private static void close(ProcessGroup group) {
        try {
            group.close(Duration.ofSeconds(2));
        } catch (FerroException told) {
            // a failure that nobody has heard of is told at the end, too
            assertTrue(group.failure().isPresent(), told.toString());
        }
    }
}
