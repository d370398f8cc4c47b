package ferro.training;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
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
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * Ranks of a test in this JVM, a thread each, over the simulated medium, sockets or shared memory; closes what it opened.
 *
 * <pre>{@code
 * List<float[]> sums = TrainingRanks.run(Over.TCP, 3, group -> {
 *     float[] values = {group.rank()};
 *     group.allReduce(values, ReduceOp.SUM);
 *     return values;
 * });
 * }</pre>
 */
public final class TrainingRanks implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 120;
    private static final String DEADLINE = "60s";

    private final List<ProcessGroup> groups = new ArrayList<>();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "test-training-rank");
        thread.setDaemon(true);
        return thread;
    });

    private TrainingRanks() {}

    /** What carries the data between the ranks. */
    public enum Over {
        SIMULATED,
        TCP,
        SHM
    }

    /**
     * What a rank does.
     *
     * @param <T> what comes of it
     */
    @FunctionalInterface
    public interface RankTask<T> {
        /** Runs on the thread of a rank. */
        T run(ProcessGroup group) throws Exception;
    }

    /** Opens ranks over a medium. */
    public static TrainingRanks over(Over medium, int worldSize) {
        return over(medium, worldSize, Map.of());
    }

    /** Opens ranks over a medium, with more settings, such as {@code ferro.timeout}. */
    public static TrainingRanks over(Over medium, int worldSize, Map<String, String> more) {
        Map<String, String> settings = new TreeMap<>(Map.of("ferro.timeout", DEADLINE));
        settings.putAll(more);
        TrainingRanks ranks = new TrainingRanks();
        try {
            if (medium == Over.SIMULATED) {
                SimulatedBackend.createGroup(worldSize, settings)
                        .forEach(backend -> ranks.groups.add(ProcessGroup.of(backend)));
            } else {
                ranks.join(medium, worldSize, settings);
            }
            return ranks;
        } catch (RuntimeException | Error failure) {
            ranks.close();
            throw failure;
        }
    }

    /** Runs something on each of as many ranks, and closes them; results by rank. */
    public static <T> List<T> run(Over medium, int worldSize, RankTask<T> task) {
        try (TrainingRanks ranks = over(medium, worldSize)) {
            return ranks.all(task);
        }
    }

    /** Every medium with 1 to 5 ranks, for {@code @MethodSource("ferro.training.TrainingRanks#everywhere")}. */
    public static Stream<Object[]> everywhere() {
        return Stream.of(Over.values())
                .flatMap(medium -> Stream.of(1, 2, 3, 4, 5).map(worldSize -> new Object[] {medium, worldSize}));
    }

    /** Returns the group of each rank; index = rank. */
    public List<ProcessGroup> groups() {
        return List.copyOf(groups);
    }

    /**
     * Runs something on all ranks at once; results by rank. Where a rank throws, its group is aborted, so that the others end,
     * and what it threw first is thrown here.
     */
    public <T> List<T> all(RankTask<T> task) {
        AtomicReference<Throwable> first = new AtomicReference<>();
        List<T> results = results(group -> {
            try {
                return task.run(group);
            } catch (Throwable failure) {
                if (first.compareAndSet(null, failure)) {
                    group.abort(failure);
                }
                return null;
            }
        });
        if (first.get() != null) {
            throw new AssertionError("a rank failed: " + first.get(), first.get());
        }
        return results;
    }

    /** Runs something on all ranks at once, and says what each threw; null where it threw nothing. */
    public List<Throwable> failures(RankTask<?> task) {
        return results(group -> {
            try {
                task.run(group);
                return null;
            } catch (Throwable failure) {
                return failure;
            }
        });
    }

    private <T> List<T> results(RankTask<T> task) {
        List<Callable<T>> calls = new ArrayList<>();
        groups.forEach(group -> calls.add(() -> task.run(group)));
        return results(calls);
    }

    private <T> List<T> results(List<Callable<T>> calls) {
        List<Future<T>> running = new ArrayList<>();
        calls.forEach(call -> running.add(threads.submit(call)));
        List<T> results = new ArrayList<>();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        for (Future<T> one : running) {
            try {
                results.add(one.get(end - System.nanoTime(), TimeUnit.NANOSECONDS));
            } catch (ExecutionException failed) {
                throw new AssertionError("a rank failed: " + failed.getCause(), failed.getCause());
            } catch (InterruptedException | TimeoutException late) {
                throw new AssertionError(
                        "rank " + results.size() + " is not done within " + TIMEOUT_SECONDS + " s", late);
            }
        }
        return results;
    }

    private void join(Over medium, int worldSize, Map<String, String> more) {
        TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        opened.push(server);
        Map<String, String> settings = new TreeMap<>(more);
        settings.put("ferro.backend", "tcp");
        settings.put("ferro.links", medium.name().toLowerCase(Locale.ROOT));
        settings.put("ferro.rendezvous", "tcp://127.0.0.1:" + server.port());
        settings.put("FERRO_STORE_SERVED", "1");
        List<Callable<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            SystemContext context = SystemContext.of(settings);
            opened.push(context);
            GroupSpec spec = GroupSpec.of("world", rank, worldSize, timeout(settings));
            joining.add(() -> Groups.join(spec, context));
        }
        groups.addAll(results(joining));
        if (worldSize > 1) {
            groups.forEach(group -> assertCarries(medium, group));
        }
    }

    private static Duration timeout(Map<String, String> settings) {
        String text = settings.get("ferro.timeout");
        assertTrue(text.matches("[0-9]+s"), text);
        return Duration.ofSeconds(Long.parseLong(text.substring(0, text.length() - 1)));
    }

    private static void assertCarries(Over medium, ProcessGroup group) {
        String report = group.linkReport();
        boolean found = medium == Over.SHM
                ? report.equals("all " + group.worldSize() + " ranks share memory")
                : report.endsWith(" do not share memory: ferro.links=tcp");
        assertTrue(found, () -> "data is not carried over " + medium + ": " + report);
    }

    @Override
    public void close() {
        List<Callable<Void>> closing = new ArrayList<>();
        groups.forEach(group -> closing.add(() -> close(group)));
        results(closing);
        threads.shutdown();
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception failure) {
                throw new AssertionError("cannot close what was opened for the ranks", failure);
            }
        }
    }

    private static Void close(ProcessGroup group) {
        try {
            group.close(Duration.ofSeconds(5));
        } catch (FerroException thrown) {
            // a failure that nobody has heard of is told at the end, too
            assertTrue(group.failure().isPresent(), thrown.toString());
        }
        return null;
    }
}
