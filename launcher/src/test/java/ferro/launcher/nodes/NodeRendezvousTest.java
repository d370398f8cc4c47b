package ferro.launcher.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.Store;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.store.LauncherStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The roll that node 0 calls, over a store on loopback. */
@Timeout(60)
class NodeRendezvousTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    /** The launcher of node 0 leaves with its store as soon as it hears; it stays for those that are known by then. */
    @Test
    void whoeverIsRefusedIsKnownBeforeTheRefusalIsTold() throws Exception {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getByName("127.0.0.1"), 0, "job", 2, null);
                LauncherStore zero = connected(server, 0);
                LauncherStore one = connected(server, 1)) {
            AtomicReference<NodeRendezvous> roll = new AtomicReference<>();
            CompletableFuture<List<NodeCard>> known = new CompletableFuture<>();
            Store watched = beforeEachSwap(zero.store(), key -> {
                if (key.equals(Keys.START)) {
                    known.complete(roll.get().known());
                }
            });
            roll.set(new NodeRendezvous(watched, card(0, 2), thread, missing -> {}));
            roll.get().call(LONG.toMillis());

            Keys.first(one.store(), Keys.card(1), Keys.encoded(card(1, 3)));

            assertEquals(List.of(card(0, 2), card(1, 3)), known.get(LONG.toSeconds(), TimeUnit.SECONDS));
        } finally {
            thread.shutdownNow();
        }
    }

    private interface Look {
        void at(String key);
    }

    private static Store beforeEachSwap(Store store, Look look) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (self, call, with) -> {
                    if (call.getName().equals("compareAndSet")) {
                        look.at((String) with[0]);
                    }
                    try {
                        return call.invoke(store, with);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private static LauncherStore connected(TcpStoreServer server, int node) {
        InetSocketAddress at = new InetSocketAddress("127.0.0.1", server.port());
        return LauncherStore.open(new LauncherStore.LauncherCall(at, "job", null, node, 7 + node), LONG, LONG);
    }

    private static NodeCard card(int node, int ranks) {
        return new NodeCard(node, "h" + node, "127.0.0." + (node + 1), ranks, 2, "1", "", 7 + node);
    }
}
