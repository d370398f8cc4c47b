package ferro.launcher.nodes;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.Store;
import ferro.backend.tcp.store.LauncherClient;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The roll that node 0 calls, over a store on loopback. */
@Timeout(60)
class StartCoordinatorTest extends LaunchersOnLoopback {
    private static final String FIREWALL = "and that no firewall blocks the connection";
    /** Node 0 may close its store once it knows of a failure. The store stays open for launchers that are known by then. */
    @Test
    void aRefusedLauncherIsKnownBeforeItsRefusalIsSent() throws Exception {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
        LauncherClient zero = connected(entry(0, 2));
        LauncherClient one = connected(entry(1, 2));
        try {
            AtomicReference<StartCoordinator> roll = new AtomicReference<>();
            CompletableFuture<List<LauncherEntry>> known = new CompletableFuture<>();
            Store watched = beforeEachSwap(zero.store(), key -> {
                if (key.equals(StoreKeys.FIRST.start())) {
                    known.complete(roll.get().known());
                }
            });
            roll.set(new StartCoordinator(watched, entry(0, 2), thread, missing -> {}, StoreKeys.FIRST));
            roll.get().call(0, LONG.toMillis());

            StoreKeys.first(one.store(), StoreKeys.FIRST.card(1), StoreKeys.encoded(entry(1, 3)));

            assertEquals(List.of(entry(0, 2), entry(1, 3)), known.get(LONG.toSeconds(), TimeUnit.SECONDS));
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void theAdviceAboutAFirewallStaysIfAnUnknownNodeIsRefused() throws Exception {
        String text = missesNodeOne(this::speakVersionThree);

        assertHas(text, FIREWALL, "refused a process at 127.0.0.1 while node 1 was missing");
    }

    @Test
    void theAdviceAboutAFirewallGoesIfTheMissingNodeIsRefused() throws Exception {
        String text = missesNodeOne(() -> assertThrows(FerroException.class, () -> connected("other", SECRET, 1, 5)));

        assertLacks(text, FIREWALL);
        assertHas(text, "refused a launcher of node 1 at 127.0.0.1 while node 1 was missing");
    }

    private String missesNodeOne(Callable<?> process) throws Exception {
        BlockingQueue<String> refused = new LinkedBlockingQueue<>();
        HeldTasks thread = new HeldTasks();
        LauncherClient zero = connected(entry(0, 2));
        try {
            StartCoordinator roll =
                    new StartCoordinator(zero.store(), entry(0, 2), thread, new Listening(refused), StoreKeys.FIRST);
            roll.call(0, 1);
            process.call();
            assertNotNull(refused.poll(LONG.toSeconds(), TimeUnit.SECONDS));

            thread.execute(thread.held.get(0));

            return StoreKeys.decoded(zero.store().get(StoreKeys.FIRST.start(), LONG), StartDecision.class)
                    .refusal();
        } finally {
            thread.shutdownNow();
        }
    }

    private static Store beforeEachSwap(Store store, Consumer<String> look) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (self, call, with) -> {
                    if (call.getName().equals("compareAndSet")) {
                        look.accept((String) with[0]);
                    }
                    try {
                        return call.invoke(store, with);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private static LauncherEntry entry(int node, int ranks) {
        return new LauncherEntry(node, "h" + node, "127.0.0." + (node + 1), ranks, 2, "1", "", "", 7 + node, "", "", 0);
    }
}
