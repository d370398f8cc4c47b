package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.ConnectAttempts;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.backend.tcp.store.JobAddressFile.JobFileContent;
import ferro.spi.GroupSpec;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whose time a join took, this rank's or that of others, on a clock that jumps: what the failure says and whom it blames. */
@Timeout(60)
class WhoWasLateTest extends RanksOfMpirun {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    /** Settings that are read while a rank opens its port, and after it has its slot. */
    private static final String AT_THE_PORT = "ferro.tcp.port";

    private static final String AFTER_THE_SLOT = "ferro.algorithm";

    /** A context whose clock jumps, once, when a setting is read: its rank is slow at this point. */
    private static final class JumpingContext extends JoiningContext {
        private final AtomicLong ahead = new AtomicLong();
        private final AtomicLong jump = new AtomicLong();
        private final String slowAt;

        JumpingContext(Map<String, String> settings, GroupSpec group, String slowAt, Duration slow) {
            super(settings, group);
            this.slowAt = slowAt;
            jump.set(slow.toNanos());
        }

        void jump(Duration time) {
            ahead.addAndGet(time.toNanos());
        }

        @Override
        public Optional<String> setting(String name) {
            if (name.equals(slowAt)) {
                ahead.addAndGet(jump.getAndSet(0));
            }
            return super.setting(name);
        }

        @Override
        public long nanoTime() {
            return super.nanoTime() + ahead.get();
        }
    }

    private JumpingContext context(int rank, int size, Map<String, String> more, String slowAt, Duration slow) {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("ferro.join.timeout", DEADLINE.toSeconds() + "s");
        GroupSpec spec = GroupSpec.of("world", rank, size, Ranks.LONG);
        JumpingContext context = new JumpingContext(settings, spec, slowAt, slow);
        open.add(context);
        return context;
    }

    private CompletableFuture<TcpMesh> join(int rank, int size, JoiningContext context) {
        return join(GroupSpec.of("world", rank, size, Ranks.LONG), context);
    }

    private static Map<String, String> byHand(int rank, int size, int port) {
        return Map.of(
                "RANK", "" + rank,
                "WORLD_SIZE", "" + size,
                "MASTER_ADDR", "127.0.0.1",
                "MASTER_PORT", "" + port,
                "FERRO_STORE_SERVED", "0");
    }

    private void writeFile(int port) {
        JobFileContent content = new JobFileContent("127.0.0.1", port, Optional.of(Secret.of(SecretFile.fresh())));
        new JobAddressFile(folder, "key").write(content, Where.of("world", 0));
    }

    private static void assertSays(FerroException failure, Set<Integer> culprits, String... parts) {
        Ranks.assertSays(failure, Code.RENDEZVOUS, parts);
        assertEquals(culprits, failure.where().culprits(), failure.getMessage());
    }

    private static void assertSaysNot(FerroException failure, String... parts) {
        for (String part : parts) {
            assertFalse(failure.getMessage().contains(part), failure.getMessage());
        }
    }

    @Test
    void aSlowRankZeroBlamesNoRank() throws Exception {
        Map<String, String> settings = byHand(0, 4, Sockets.freePort());
        JumpingContext slow = context(0, 4, settings, AT_THE_PORT, DEADLINE.minusSeconds(1));

        FerroException failure = Ranks.failure(join(0, 4, slow));

        assertSays(failure, Set.of(), " ms to start and waited only ", "ms for ranks [1, 2, 3] of 4", "a free core");
        assertSaysNot(failure, "check that they run");
    }

    @Test
    void timeSpentWaitingForOthersDoesNotCountAsOwnStart() throws Exception {
        JumpingContext second = context(1, 3, mpirun(1, 3), AFTER_THE_SLOT, Duration.ofSeconds(8)); // is slow for 8 s
        CompletableFuture<TcpMesh> joining = join(1, 3, second);
        Threads.awaitInside(StoreConnector.class, "pause", 1);
        second.jump(Duration.ofSeconds(50)); // rank 0 is slow for 50 s
        join(0, 3, context(0, 3, mpirun(0, 3), "", Duration.ZERO));

        FerroException failure = Ranks.failure(joining);

        assertSays(
                failure, Set.of(2), "missing: [2] of 3", "of the 58", " ms before, 8", "went into the start of this");
        assertSays(failure, Set.of(2), " and the rest into waits for others");
    }

    @Test
    void aLateJobFileIsNotBlamedOnItsReader() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            JumpingContext second = context(1, 2, mpirun(1, 2), "", Duration.ZERO);
            CompletableFuture<TcpMesh> joining = join(1, 2, second);
            Threads.awaitInside(StoreConnector.class, "pause", 1);
            second.jump(DEADLINE.minusMillis(2_500));
            writeFile(silent.getLocalPort());

            FerroException failure = Ranks.failure(joining);

            assertSays(failure, Set.of(0), "rank 0 is missing", "and the rest into waits for others");
            assertSaysNot(failure, "give the rank a free core");
        }
    }

    @Test
    void aSlowRankDoesNotReportRankZeroMissing() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            writeFile(silent.getLocalPort());
            JumpingContext slow = context(1, 2, mpirun(1, 2), AT_THE_PORT, DEADLINE.minusSeconds(1));

            FerroException failure = Ranks.failure(join(1, 2, slow));

            assertSays(failure, Set.of(), "the rank has called the store at 127.0.0.1:", "give the rank a free core");
            assertSaysNot(failure, "rank 0 is missing", "check whether rank 0 runs");
        }
    }

    @Test
    void anUnresolvableNameOfAPeerIsBlamedOnThePeer() throws Exception {
        try (Ranks ranks = Ranks.onLoopback()) {
            GroupSpec spec = GroupSpec.of("world", 0, 2, Duration.ofMillis(1_500));
            JoiningContext context = ranks.context(spec, Map.of());
            Roster.RankEntry entry = new Roster.RankEntry("nowhere.invalid", 1, 1, 1, PeerHost.UNKNOWN, "");
            context.store().set("world/1/card/1", entry.text().getBytes(StandardCharsets.UTF_8));

            FerroException failure = Ranks.failure(join(spec, context));

            assertSays(failure, Set.of(1), "rank 1 announced \"nowhere.invalid\"", "ferro.tcp.advertise");
            assertSaysNot(failure, "MASTER_ADDR");
        }
    }

    @Test
    void onlyAnUnansweredRequestIsBlamedOnTheStore() {
        JumpingContext context = context(1, 2, Map.of(), "", Duration.ZERO);
        JoinProgress progress = JoinProgress.begin(GroupSpec.of("world", 1, 2, Ranks.LONG), context);
        progress.askStore(false);
        context.jump(DEADLINE.plusSeconds(1));
        Where where = Where.of("world", 1);
        FerroException gone = new FerroException(Code.RENDEZVOUS, where, "the store went away (it closed)");
        TimeoutException passed = new TimeoutException("no answer");
        FerroException unanswered = new FerroException(Code.RENDEZVOUS, where, "add was not answered", passed);

        assertSame(gone, progress.ofStore(gone));
        assertSays(progress.ofStore(unanswered), Set.of(), "the store is connected and has not answered (add was not");
    }

    @Test
    void aLateRankBlamesItselfAndNotTheStore() {
        JumpingContext context = context(1, 2, Map.of(), "", Duration.ZERO);
        JoinProgress progress = JoinProgress.begin(GroupSpec.of("world", 1, 2, Ranks.LONG), context);
        context.jump(DEADLINE.plusSeconds(1));
        progress.askStore(false);
        TimeoutException passed = new TimeoutException("no answer");
        Where where = Where.of("world", 1);

        FerroException failure =
                progress.ofStore(new FerroException(Code.RENDEZVOUS, where, "add was not answered", passed));

        assertSays(failure, Set.of(), "too late for its answer", "give the rank a free core");
    }

    @Test
    void anUnreachableOwnStoreIsNotReportedSlow() {
        JumpingContext context = context(0, 2, Map.of(), "", Duration.ZERO);
        JoinProgress progress = JoinProgress.begin(GroupSpec.of("world", 0, 2, Ranks.LONG), context);
        ConnectAttempts notes = new ConnectAttempts(context::nanoTime);
        InetSocketAddress own = new InetSocketAddress(Ranks.address("192.0.2.1"), 29500);
        JoinState state = new JoinState.StoreStartup(progress.rank(), progress.time(), "the store at 192.0.2.1", notes);
        String slow = "rank 0 of \"world\" is still starting the store at 192.0.2.1, which it serves: this ";
        assertTrue(state.text().startsWith(slow), state.text());

        notes.begun(own);
        notes.failed(own, new NoRouteToHostException("No route to host"));

        String unreached = "cannot connect to the store at 192.0.2.1, which it serves: no route (attempts: 1";
        assertEquals("rank 0 of \"world\" " + unreached + ")", state.text());
        String failure = progress.unserved("the store at 192.0.2.1", notes);
        assertTrue(failure.contains(unreached), failure);
        assertFalse(failure.contains("a free core"), failure);
    }

    @Test
    void timeInEachStateCountsAsOwnWorkOrAsWaiting() {
        JumpingContext context = context(1, 2, Map.of(), "", Duration.ZERO);
        JoinProgress progress = JoinProgress.begin(GroupSpec.of("world", 1, 2, Ranks.LONG), context);
        ConnectAttempts notes = new ConnectAttempts(context::nanoTime);
        InetSocketAddress store = new InetSocketAddress(Ranks.address("127.0.0.1"), 29500);

        context.jump(Duration.ofSeconds(1));
        progress.enter(new JoinState.JobFileWait(2, "no file"));
        context.jump(Duration.ofSeconds(2));
        JoinState calling = new JoinState.ConnectWait("", progress.time(), "the store of the launcher", notes);
        progress.enter(calling);
        context.jump(Duration.ofSeconds(4));
        notes.begun(store);
        assertEquals("waiting for the store of the launcher: no answer in 0 s (attempts: 1)", calling.text());
        context.jump(Duration.ofSeconds(8));
        progress.askStore(false);
        context.jump(Duration.ofSeconds(16));
        progress.work();
        context.jump(Duration.ofSeconds(10));

        assertEquals(15, TimeUnit.MILLISECONDS.toSeconds(progress.ownMillis()));
        assertEquals(41, TimeUnit.MILLISECONDS.toSeconds(progress.millis()));
        assertFalse(progress.isSlowItself());
    }

    @Test
    void aMuchOlderProcessDoesNotReportItsWholeLifetime() {
        Optional<Duration> used = Optional.of(Duration.ofSeconds(5_000));

        assertEquals(
                "this rank began to join 4.0 s ago",
                ProcessCpuTime.text(4_000, Optional.of(Duration.ofDays(3)), used, () -> 3_600_000));
        assertEquals(
                "this process has used 5000.0 s of processor time in the 5.5 s since its start, and a thread of it has"
                        + " waited 1.2 s for a core",
                ProcessCpuTime.text(4_000, Optional.of(Duration.ofMillis(5_500)), used, () -> 1_200));
    }
}
