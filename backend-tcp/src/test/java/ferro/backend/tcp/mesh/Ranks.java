package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.net.Threads;
import ferro.backend.tcp.store.JoiningContext;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.ControlLane.PeerEvents;
import ferro.spi.GroupSpec;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.function.Executable;

/** Ranks in this JVM, each with a context of its own, joining by a store on loopback. */
public final class Ranks implements AutoCloseable {
    public static final Duration SHORT = Duration.ofMillis(900);
    public static final Duration LONG = Duration.ofSeconds(60);

    public final TcpStoreServer server;
    private final List<Runnable> open = new ArrayList<>();
    final Map<String, String> common = new HashMap<>();

    Ranks(byte[] secret) {
        this(secret, 4);
    }

    public Ranks(byte[] secret, int worldSize) {
        server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, secret);
        common.put("MASTER_ADDR", "127.0.0.1");
        common.put("MASTER_PORT", Integer.toString(server.port()));
        common.put("FERRO_STORE_SERVED", "1");
    }

    /** Receives all events of a group whose ranks are those of the mesh. */
    interface Hears extends PeerEvents, TcpControlLane.ArrivalReceiver {
        default InboxRouter.GroupReceiver inMesh() {
            return new InboxRouter.GroupReceiver(RankArrays.all(1000), this, this);
        }
    }

    /** Makes a mesh that joins by hand. */
    public static TcpMesh mesh(GroupSpec spec, TcpPort port, long id) {
        return new TcpMesh(spec, null, port, id, within -> {});
    }

    public static Ranks onLoopback() {
        return new Ranks(null);
    }

    public JoiningContext context(GroupSpec spec, Map<String, String> extra) {
        Map<String, String> settings = new HashMap<>(common);
        settings.put("RANK", Integer.toString(spec.rank()));
        settings.put("WORLD_SIZE", Integer.toString(spec.worldSize()));
        settings.putAll(extra);
        JoiningContext context = new JoiningContext(settings, spec);
        synchronized (open) {
            open.add(context::close);
        }
        return context;
    }

    public CompletableFuture<TcpMesh> join(int rank, int worldSize, Duration timeout) {
        return join(rank, worldSize, timeout, Map.of());
    }

    public CompletableFuture<TcpMesh> join(int rank, int worldSize, Duration timeout, Map<String, String> extra) {
        GroupSpec spec = GroupSpec.of("g", rank, worldSize, timeout);
        JoiningContext context = context(spec, extra);
        return Threads.start(() -> keep(TcpMesh.join(spec, context)));
    }

    private TcpMesh keep(TcpMesh mesh) {
        synchronized (open) {
            open.add(mesh::close);
        }
        return mesh;
    }

    public List<TcpMesh> joinAll(int worldSize) {
        List<CompletableFuture<TcpMesh>> joining = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            joining.add(join(rank, worldSize, LONG));
        }
        return joining.stream().map(Ranks::result).toList();
    }

    public static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException unknown) {
            throw new AssertionError("no address: " + text, unknown);
        }
    }

    /** Waits for a rank, longer than the time-outs of jobs, so that a rank that is late says why. */
    public static <T> T result(CompletableFuture<T> future) {
        try {
            return future.get(90, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw new CompletionException(failed.getCause());
        } catch (InterruptedException | TimeoutException late) {
            throw new AssertionError("not done within 90 s" + stacks(), late);
        }
    }

    /** Where the threads of the ranks stand. */
    private static String stacks() {
        StringBuilder text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            if (thread.getName().matches("(test|ferro)-.*")) {
                text.append("\n\n").append(thread);
                for (StackTraceElement one : stack) {
                    text.append("\n  ").append(one);
                }
            }
        });
        return text.toString();
    }

    public static FerroException failure(CompletableFuture<?> future) {
        try {
            throw new AssertionError("expected a failure, found " + result(future));
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof FerroException known) {
                return known;
            }
            throw new AssertionError("expected a FerroException", failed.getCause());
        }
    }

    public static void assertSays(FerroException failure, Code code, String... parts) {
        assertEquals(code, failure.code(), failure.getMessage());
        assertSays(failure.getMessage(), parts);
    }

    public static void assertSays(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), text);
        }
    }

    public static <T extends Throwable> void assertRefused(Class<T> type, Executable call, String... parts) {
        assertSays(assertThrows(type, call).getMessage(), parts);
    }

    @Override
    public void close() {
        List<Runnable> all;
        synchronized (open) {
            all = new ArrayList<>(open);
        }
        for (int i = all.size() - 1; i >= 0; i--) {
            all.get(i).run();
        }
        server.close();
    }
}
