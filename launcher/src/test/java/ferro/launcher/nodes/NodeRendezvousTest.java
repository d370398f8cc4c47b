package ferro.launcher.nodes;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.store.LauncherStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The roll that node 0 calls, over a store on loopback. */
@Timeout(60)
class NodeRendezvousTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final String FIREWALL = "and that no firewall blocks the connection";
    /** What every version begins with: magic, version, length. */
    private static final byte[] OTHER_VERSION = {(byte) 0xF3, 'f', 'e', 'r', 'r', 'o', '\r', '\n', 0, 3, 0, 69};

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
                if (key.equals(Keys.FIRST.start())) {
                    known.complete(roll.get().known());
                }
            });
            roll.set(new NodeRendezvous(watched, card(0, 2), thread, missing -> {}, Keys.FIRST));
            roll.get().call(0, LONG.toMillis());

            Keys.first(one.store(), Keys.FIRST.card(1), Keys.encoded(card(1, 3)));

            assertEquals(List.of(card(0, 2), card(1, 3)), known.get(LONG.toSeconds(), TimeUnit.SECONDS));
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void aRefusedProcessOfAnUnknownNodeLeavesTheAdviceAboutAFirewall() throws Exception {
        String text = missesNodeOne(server -> {
            try (Socket socket = new Socket("127.0.0.1", server.port())) {
                socket.getOutputStream().write(OTHER_VERSION);
                socket.getInputStream().readAllBytes();
            }
        });

        assertHas(text, FIREWALL, "refused a process at 127.0.0.1 while node 1 was missing");
    }

    @Test
    void aRefusedLauncherOfTheMissingNodeHasComeThroughEachFirewall() throws Exception {
        String text = missesNodeOne(server -> {
            InetSocketAddress at = new InetSocketAddress("127.0.0.1", server.port());
            LauncherStore.LauncherCall other = new LauncherStore.LauncherCall(at, "other", null, 1, 5);
            assertThrows(FerroException.class, () -> LauncherStore.open(other, LONG, LONG));
        });

        assertLacks(text, FIREWALL);
        assertHas(text, "refused a launcher of node 1 at 127.0.0.1 while node 1 was missing");
    }

    private static String missesNodeOne(OtherProcess process) throws Exception {
        BlockingQueue<String> refused = new LinkedBlockingQueue<>();
        HeldTasks thread = new HeldTasks();
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getByName("127.0.0.1"), 0, "job", 2, null);
                LauncherStore zero = connected(server, 0)) {
            NodeRendezvous roll = new NodeRendezvous(
                    zero.store(),
                    card(0, 2),
                    thread,
                    new Waiting() {
                        @Override
                        public void missing(Set<Integer> nodes) {
                            // the roll does not call it
                        }

                        @Override
                        public void refused(String text) {
                            refused.add(text);
                        }
                    },
                    Keys.FIRST);
            roll.call(0, 1);
            process.comes(server);
            assertNotNull(refused.poll(LONG.toSeconds(), TimeUnit.SECONDS));

            thread.execute(thread.held.get(0));

            return Keys.decoded(zero.store().get(Keys.FIRST.start(), LONG), StartSignal.class)
                    .refusal();
        } finally {
            thread.shutdownNow();
        }
    }

    private interface OtherProcess {
        void comes(TcpStoreServer server) throws IOException;
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
        return new NodeCard(node, "h" + node, "127.0.0." + (node + 1), ranks, 2, "1", "", "", 7 + node, "", "", 0);
    }
}
