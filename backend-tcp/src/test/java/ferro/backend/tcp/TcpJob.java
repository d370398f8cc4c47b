package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.Threads;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.function.Executable;

/** Ranks of this JVM that join through the front door, each with a context of its own, over real sockets. */
final class TcpJob implements AutoCloseable {
    final TcpStoreServer store;
    private final Map<String, String> common;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final int worldSize;
    private final Duration timeout;

    /** Secret of the jobs that have one. */
    private static final byte[] SECRET = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    TcpJob(int worldSize, Duration timeout, Map<String, String> settings) {
        this.worldSize = worldSize;
        this.timeout = timeout;
        byte[] secret = settings.containsKey("FERRO_SECRET_FILE") ? SECRET : null;
        store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, secret);
        common = new HashMap<>(settings);
        common.put("ferro.backend", "tcp");
        common.put("ferro.rendezvous", "tcp://127.0.0.1:" + store.port());
        common.put("FERRO_STORE_SERVED", "1");
    }

    public static TcpJob of(int worldSize) {
        return new TcpJob(worldSize, Ranks.LONG, Map.of());
    }

    /** Returns settings by which a job has a secret and encrypts everything, by the engines of the JDK unless they say another provider. */
    static Map<String, String> encrypted(Map<String, String> more) {
        try {
            Path file = Files.createTempFile("ferro-test", ".secret");
            file.toFile().deleteOnExit();
            Files.write(file, SECRET);
            Map<String, String> settings = new HashMap<>(more);
            settings.put("ferro.tls", "on");
            settings.putIfAbsent("ferro.tls.provider", "jdk");
            settings.put("FERRO_SECRET_FILE", file.toString());
            return settings;
        } catch (IOException unable) {
            throw new UncheckedIOException(unable);
        }
    }

    SystemContext context() {
        return context(Map.of());
    }

    SystemContext context(Map<String, String> own) {
        Map<String, String> settings = new HashMap<>(common);
        settings.putAll(own);
        SystemContext context = SystemContext.of(settings);
        synchronized (open) {
            open.push(context);
        }
        return context;
    }

    CompletableFuture<ProcessGroup> joining(String name, int rank, RankContext context) {
        return Threads.start(() -> {
            ProcessGroup group = Groups.join(GroupSpec.of(name, rank, worldSize, timeout), context);
            synchronized (open) {
                open.push(group);
            }
            return group;
        });
    }

    /** Has all ranks join, each in a context of its own. */
    public List<ProcessGroup> joinAll(String name) {
        return joinAll(name, Collections.nCopies(worldSize, Map.of()));
    }

    List<ProcessGroup> joinAll(String name, List<Map<String, String>> settingsByRank) {
        return joined(name, settingsByRank.stream().map(this::context).toList());
    }

    /** Has all ranks join, each in its context. */
    List<ProcessGroup> joined(String name, List<? extends RankContext> contexts) {
        return joining(name, contexts).stream().map(Ranks::result).toList();
    }

    List<CompletableFuture<ProcessGroup>> joining(String name, List<? extends RankContext> contexts) {
        return IntStream.range(0, worldSize)
                .mapToObj(rank -> joining(name, rank, contexts.get(rank)))
                .toList();
    }

    /** Has all ranks join, the last of them behind a proxy. */
    List<ProcessGroup> joinBehind(TcpProxy proxy) {
        return joiningBehind(proxy).stream().map(Ranks::result).toList();
    }

    List<CompletableFuture<ProcessGroup>> joiningBehind(TcpProxy proxy) {
        List<SystemContext> contexts = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            contexts.add(context(rank == worldSize - 1 ? proxy.settings() : Map.of()));
        }
        return joining("g", contexts);
    }

    /** Has all ranks join, each in a context of its own, and leave again; keeps nothing of them. */
    void joinAndLeave(String name, Map<String, String> settings) {
        List<SystemContext> contexts =
                Stream.generate(() -> context(settings)).limit(worldSize).toList();
        List<ProcessGroup> groups = joined(name, contexts);
        runOnAll(groups, ProcessGroup::close);
        contexts.forEach(SystemContext::close);
        synchronized (open) {
            open.removeAll(groups);
            open.removeAll(contexts);
        }
    }

    /** Has every group do the same at once, each on a thread of its own. */
    public static <T> List<T> onAll(List<ProcessGroup> groups, Function<ProcessGroup, T> task) {
        return startOnAll(groups, task).stream().map(Ranks::result).toList();
    }

    static void runOnAll(List<ProcessGroup> groups, Consumer<ProcessGroup> task) {
        onAll(groups, group -> {
            task.accept(group);
            return null;
        });
    }

    static <T> List<CompletableFuture<T>> startOnAll(List<ProcessGroup> groups, Function<ProcessGroup, T> task) {
        return groups.stream()
                .map(group -> Threads.start(() -> task.apply(group)))
                .toList();
    }

    /** Has all groups sum tensors of so many elements, and checks the sums. */
    static void sum(List<ProcessGroup> groups, int count) {
        onAll(groups, group -> AbortBesideSiblingTest.sum(group, 3, count));
    }

    static FerroException failure(Executable task) {
        return assertThrows(FerroException.class, task);
    }

    /** Checks that a task fails on all ranks, with a code and with a text that has these parts. */
    static List<FerroException> assertFail(
            List<ProcessGroup> groups, Code code, Consumer<ProcessGroup> task, String... parts) {
        List<FerroException> failures = onAll(groups, group -> failure(() -> task.accept(group)));
        failures.forEach(failure -> Ranks.assertSays(failure, code, parts));
        return failures;
    }

    /**
     * Sums until it fails; a sum that is wrong must not be. A thousand sums may take less time than a busy machine needs to see
     * the end of a connection.
     */
    static void sumUntilItFails(ProcessGroup group, int count) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        for (int call = 0; System.nanoTime() - end < 0; call++) {
            AbortBesideSiblingTest.sum(group, call, count);
        }
    }

    @Override
    public void close() {
        List<AutoCloseable> all;
        synchronized (open) {
            all = new ArrayList<>(open);
            open.clear();
        }
        for (AutoCloseable one : all) {
            try {
                one.close();
            } catch (FerroException told) {
                // a failed group may say so once more
            } catch (Exception failure) {
                throw new AssertionError("cannot close " + one, failure);
            }
        }
        store.close();
    }

    /** All ranks live; what else they see of the connection that one of them gave up comes within half a second. */
    static void assertNobodyIsLost(List<ProcessGroup> groups) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
        do {
            for (ProcessGroup group : groups) {
                assertEquals(Set.of(), group.lost(), group::toString);
            }
            LockSupport.parkNanos(1_000_000);
        } while (System.nanoTime() - until < 0);
    }
}
