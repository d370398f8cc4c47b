package ferro.integration.misuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.backend.tcp.TcpStoreServer;
import ferro.collectives.CollectiveEngine;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.HeardLog;
import ferro.spi.PortRange;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class DroppedGroupTest {
    private static final byte[] SECRET = "a secret of this test, long enough".getBytes(StandardCharsets.UTF_8);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String OF_SUBGROUP = "ProcessGroup of rank 0 of \"[0]\" was never closed";

    @AutoClose
    final HeardLog heard = new HeardLog(
            "ferro.group", record -> record.getLevel().equals(Level.WARNING) && isOfAGroupOfThisTest(record));

    private static boolean isOfAGroupOfThisTest(LogRecord record) {
        return record.getThrown() != null
                && Arrays.stream(record.getThrown().getStackTrace())
                        .anyMatch(frame -> frame.getClassName().startsWith(DroppedGroupTest.class.getName()));
    }

    @Test
    void aGroupCollectedWithoutACloseIsWarnedOfOnce() {
        String warning = "ProcessGroup of rank 0 of \"dropped\" was never closed";
        try (TcpStoreServer store = store();
                SystemContext dropping = context(store, "dropped", 0);
                SystemContext other = context(store, "dropped", 1)) {
            CompletableFuture<ProcessGroup> joining = CompletableFuture.supplyAsync(other::join);
            collected(joinedAndDropped(dropping));
            ProcessGroup peer = joining.orTimeout(60, TimeUnit.SECONDS).join();
            awaitCount(warning, 1);

            assertTrue(peer.failure().isEmpty(), () -> "" + peer.failure());
            LogRecord record = heard.records().get(0);
            assertTrue(record.getMessage().contains("its resources stay open"), record.getMessage());
            assertTrue(record.getMessage().contains("close it where it was opened"), record.getMessage());
            assertTrue(
                    Arrays.stream(record.getThrown().getStackTrace())
                            .anyMatch(frame -> frame.getMethodName().equals("joinedAndDropped")),
                    "where it was joined");
            peer.close();
        }
        assertEquals(1, heard.texts().size(), () -> "warnings: " + heard.texts());
    }

    private static WeakReference<ProcessGroup> joinedAndDropped(SystemContext context) {
        return new WeakReference<>(context.join());
    }

    @Test
    void aClosedGroupOrAGroupWithAViewIsNotWarnedOf() {
        try (SystemContext alone = SystemContext.of(options("kept", 0, 1))) {
            ProcessGroup world = alone.join();
            List<WeakReference<ProcessGroup>> quiet = new ArrayList<>();
            quiet.add(closed(world));
            quiet.add(closedWithItsContext());
            quiet.add(closedByItsEngine(alone));
            ProcessGroup view = world.newGroup(0).within(PATIENCE);
            quiet.forEach(DroppedGroupTest::collected);

            // the cleaner has one thread, so what was collected before has been looked at by then
            collected(new WeakReference<>(world.newGroup(0)));
            awaitCount(OF_SUBGROUP, 1);
            assertEquals(1, heard.texts().size(), () -> "warnings: " + heard.texts());

            view.allReduce(new float[] {2}, ReduceOp.SUM);
            view = null;
            awaitCount(OF_SUBGROUP, 2);
            world.close();
        }
    }

    private static WeakReference<ProcessGroup> closedWithItsContext() {
        ProcessGroup group;
        try (SystemContext ending = SystemContext.of(options("ending", 0, 1))) {
            group = ending.join();
        }
        return new WeakReference<>(group);
    }

    private static WeakReference<ProcessGroup> closedByItsEngine(SystemContext context) {
        try (CollectiveBackend engine =
                CollectiveEngine.over(SimulatedBackend.createGroup(1).get(0), context)) {
            return new WeakReference<>(ProcessGroup.of(engine));
        }
    }

    private static WeakReference<ProcessGroup> closed(ProcessGroup parent) {
        ProcessGroup part = parent.newGroup(0);
        part.close();
        return new WeakReference<>(part);
    }

    private void awaitCount(String start, int count) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (count(start) < count && System.nanoTime() - deadline < 0) {
            System.gc();
        }
        assertEquals(count, count(start), () -> start + ", found " + heard.texts());
    }

    private long count(String start) {
        return heard.texts().stream().filter(text -> text.startsWith(start)).count();
    }

    private static void collected(WeakReference<ProcessGroup> group) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (group.get() != null && System.nanoTime() - deadline < 0) {
            System.gc();
        }
        assertNull(group.get(), "the group is still reachable");
    }

    private static TcpStoreServer store() {
        return TcpStoreServer.start(InetAddress.getLoopbackAddress(), PortRange.of("0"), "default", 2, SECRET);
    }

    private static SystemContext context(TcpStoreServer store, String group, int rank) {
        return SystemContext.of(
                options(group, rank, 2).storeAt(store.endpoint()).secret(SECRET).setting("ferro.backend", "tcp"));
    }

    private static JoinOptions options(String group, int rank, int worldSize) {
        JoinOptions options = JoinOptions.of(rank, worldSize).group(group).timeout(PATIENCE);
        return worldSize == 1 ? options.setting("ferro.backend", "simulated") : options;
    }
}
