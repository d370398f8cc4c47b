package ferro.harness;

import ferro.FerroException;
import ferro.GroupEvent;
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
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Ranks in this JVM, a thread and a context each, over the simulated medium, sockets or shared memory; closes what it opened.
 *
 * <pre>{@code
 * List<float[]> sums = Ranks.run(Medium.TCP, 3, group -> {
 *     float[] values = {group.rank()};
 *     group.allReduce(values, ReduceOp.SUM);
 *     return values;
 * });
 * }</pre>
 */
public final class Ranks implements AutoCloseable {
    /** A setting for large segments: a container may have only 64 MiB in /dev/shm. */
    public static final Map<String, String> ON_DISK = Map.of("ferro.shm.dir", System.getProperty("java.io.tmpdir"));

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final List<ProcessGroup> groups = new ArrayList<>();
    private final List<Queue<GroupEvent>> events = new ArrayList<>();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Map<String, String> common;
    private final Consumer<SystemContext> prepare;

    /** Opens nothing yet: see {@link #join}. */
    public Ranks(Map<String, String> common) {
        this(common, context -> {});
    }

    /** Opens nothing yet, and prepares the context of each rank before the rank joins. */
    public Ranks(Map<String, String> common, Consumer<SystemContext> prepare) {
        this.common = common;
        this.prepare = prepare;
    }

    @FunctionalInterface
    public interface Task<T> {
        T run(ProcessGroup group) throws Exception;
    }

    @FunctionalInterface
    public interface Code {
        void run(ProcessGroup group) throws Exception;
    }

    /** How a rank's call ended; {@code failure} is null if well. */
    public record Ended(FerroException failure, long atNanos) {}

    public static Ranks over(Medium medium, int worldSize) {
        return over(medium, worldSize, Map.of());
    }

    /** Opens ranks over a medium, with more settings, such as {@code ferro.timeout} in seconds. */
    public static Ranks over(Medium medium, int worldSize, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(Map.of("ferro.timeout", TIMEOUT.toSeconds() + "s"));
        settings.putAll(more);
        if (medium == Medium.SIMULATED) {
            Ranks ranks = new Ranks(Map.of());
            SimulatedBackend.createGroup(worldSize, settings).forEach(backend -> ranks.add(ProcessGroup.of(backend)));
            return ranks;
        }
        settings.put("ferro.links", medium.toString());
        Duration timeout = Duration.parse("PT" + settings.get("ferro.timeout"));
        List<Map<String, String>> alike = Collections.nCopies(worldSize, settings);
        return opened(timeout, alike, group -> medium.assertFoundIn(group.linkReport(), worldSize));
    }

    public static Ranks over(String medium, int worldSize) {
        return over(Medium.of(medium), worldSize, Map.of());
    }

    /** Opens ranks that count as being on the hosts of these names. */
    public static Ranks onHosts(String... hosts) {
        return onHosts(Map.of(), hosts);
    }

    /** The same with more settings. */
    public static Ranks onHosts(Map<String, String> more, String... hosts) {
        List<Map<String, String>> settingsByRank = new ArrayList<>();
        for (String host : hosts) {
            Map<String, String> settings = new HashMap<>(more);
            settings.put("ferro.host", host);
            settingsByRank.add(settings);
        }
        return opened(TIMEOUT, settingsByRank, group -> {});
    }

    private static Ranks opened(
            Duration timeout, List<Map<String, String>> settingsByRank, Consumer<ProcessGroup> check) {
        Ranks ranks = new Ranks(Map.of());
        try {
            ranks.joined(timeout, settingsByRank).forEach(ranks::add);
            ranks.groups.forEach(check);
            return ranks;
        } catch (RuntimeException | Error failure) {
            ranks.close();
            throw failure;
        }
    }

    private void add(ProcessGroup group) {
        Queue<GroupEvent> heard = new ConcurrentLinkedQueue<>();
        events.add(heard);
        group.onEvent(heard::add);
        groups.add(group);
    }

    /** Opens a store and starts joining, over back end tcp where settings name no other. The caller closes the groups. */
    public List<Future<ProcessGroup>> join(Duration timeout, List<Map<String, String>> settingsByRank) {
        int worldSize = settingsByRank.size();
        TcpStoreServer store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        opened.push(store);
        List<Future<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            Map<String, String> settings = atStore(store.port());
            settings.putAll(common);
            settings.putAll(settingsByRank.get(rank));
            SystemContext context = SystemContext.of(settings);
            opened.push(context);
            prepare.accept(context);
            GroupSpec spec = GroupSpec.of("world", rank, worldSize, timeout);
            joining.add(OnThread.start(() -> Groups.join(spec, context)));
        }
        return joining;
    }

    /** Returns settings of a rank of back end tcp whose store somebody else serves, and more: names and values in turn. */
    public static Map<String, String> atStore(int port, String... more) {
        Map<String, String> settings = new HashMap<>(Map.of(
                "ferro.backend", "tcp",
                "ferro.rendezvous", "tcp://127.0.0.1:" + port,
                "FERRO_STORE_SERVED", "1"));
        for (int i = 0; i < more.length; i += 2) {
            settings.put(more[i], more[i + 1]);
        }
        return settings;
    }

    public List<ProcessGroup> joined(Duration timeout, List<Map<String, String>> settingsByRank) {
        return join(timeout, settingsByRank).stream().map(OnThread::result).toList();
    }

    /** Runs something on each of as many ranks, and closes them; results by rank. */
    public static <T> List<T> run(Medium medium, int worldSize, Task<T> task) {
        return run(medium, worldSize, Map.of(), task);
    }

    public static <T> List<T> run(Medium medium, int worldSize, Map<String, String> more, Task<T> task) {
        try (Ranks ranks = over(medium, worldSize, more)) {
            return ranks.all(task);
        }
    }

    /** Runs something without a result on each of as many ranks, and closes them. */
    public static void each(Medium medium, int worldSize, Code code) {
        each(medium, worldSize, Map.of(), code);
    }

    public static void each(Medium medium, int worldSize, Map<String, String> more, Code code) {
        run(medium, worldSize, more, group -> {
            code.run(group);
            return null;
        });
    }

    public static void each(String medium, int worldSize, Code code) {
        each(Medium.of(medium), worldSize, Map.of(), code);
    }

    /** Every medium with 1 to 5 ranks, for {@code @MethodSource("ferro.harness.Ranks#everywhere")}. */
    public static Stream<Object[]> everywhere() {
        return Stream.of(Medium.values())
                .flatMap(medium -> Stream.of(1, 2, 3, 4, 5).map(worldSize -> new Object[] {medium, worldSize}));
    }

    public List<ProcessGroup> groups() {
        return List.copyOf(groups);
    }

    public ProcessGroup group(int rank) {
        return groups.get(rank);
    }

    /** Returns the events of a rank's group so far. */
    public Queue<GroupEvent> events(int rank) {
        return events.get(rank);
    }

    /**
     * Runs something on all ranks at once; results by rank. If a rank throws, its group is aborted, so that the others end.
     * What it threw is thrown here, and what others threw is suppressed. A FerroException is the cause only if all ranks
     * threw one: a rank that receives the failure may throw before the rank that failed.
     */
    public <T> List<T> all(Task<T> task) {
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        List<T> results = onAll(groups, group -> {
            try {
                return task.run(group);
            } catch (Throwable failure) {
                thrown.add(failure);
                group.abort(failure);
                return null;
            }
        });
        if (!thrown.isEmpty()) {
            thrown.sort(Comparator.comparing(failure -> failure instanceof FerroException));
            AssertionError failed = new AssertionError("a rank failed: " + thrown.get(0), thrown.get(0));
            thrown.subList(1, thrown.size()).forEach(failed::addSuppressed);
            throw failed;
        }
        return results;
    }

    public void each(Code code) {
        all(group -> {
            code.run(group);
            return null;
        });
    }

    /** Runs something on all ranks at once, and says what each threw; null where it threw nothing. */
    public List<Throwable> failures(Code code) {
        return onAll(groups, group -> {
            try {
                code.run(group);
                return null;
            } catch (Throwable failure) {
                return failure;
            }
        });
    }

    /** Runs something on all ranks at once, and says how and when each ended; nothing but ferro's own failures may be thrown. */
    public List<Ended> ends(Code code) {
        return onAll(groups, group -> ended(group, code));
    }

    /** Runs something for a rank on a new thread. */
    public Future<Ended> start(int rank, Code code) {
        return start(groups.get(rank), code);
    }

    public static Future<Ended> start(ProcessGroup group, Code code) {
        return OnThread.start(() -> ended(group, code));
    }

    private static Ended ended(ProcessGroup group, Code code) throws Exception {
        try {
            code.run(group);
            return new Ended(null, System.nanoTime());
        } catch (FerroException failure) {
            return new Ended(failure, System.nanoTime());
        }
    }

    /** Runs something without a result at once on all of these groups, which must not fail. */
    public static void eachOf(List<ProcessGroup> groups, Code code) {
        onAll(groups, group -> {
            code.run(group);
            return null;
        });
    }

    /** Runs something at once on all of these groups, which must not fail; results by group. */
    public static <T> List<T> onAll(List<ProcessGroup> groups, Task<T> task) {
        return groups.stream().map(group -> OnThread.start(() -> task.run(group))).toList().stream()
                .map(OnThread::result)
                .toList();
    }

    @Override
    public void close() {
        List<Throwable> thrown = failures(group -> group.close(Duration.ofSeconds(5)));
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception failure) {
                throw new AssertionError("cannot close what was opened for the ranks", failure);
            }
        }
        for (int rank = 0; rank < thrown.size(); rank++) {
            // a failure that no call or group has reported is thrown by the close
            boolean known = thrown.get(rank) instanceof FerroException
                    && group(rank).failure().isPresent();
            if (thrown.get(rank) != null && !known) {
                throw new AssertionError("cannot close rank " + rank, thrown.get(rank));
            }
        }
    }
}
