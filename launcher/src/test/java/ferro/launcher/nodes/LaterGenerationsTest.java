package ferro.launcher.nodes;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.RankEnd;
import ferro.backend.tcp.store.LauncherClient;
import ferro.harness.OnThread;
import ferro.harness.Processes;
import ferro.launcher.input.JobStartException;
import ferro.launcher.nodes.LauncherConnections.WaitTimeouts;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Launchers of a job that starts again, over loopback and all in this JVM. */
@Timeout(60)
class LaterGenerationsTest extends LaunchersOnLoopback {
    private final BlockingQueue<String> set = new LinkedBlockingQueue<>();

    @BeforeEach
    void listen() {
        server.onSet((key, value) -> set.add(key));
    }

    /** A launcher that may have been started again: it does not know the generation. */
    private Launcher launcher(int node) {
        return new Launcher(node, 1);
    }

    private final class Launcher {
        private final LauncherEntry entry;
        private final LauncherClient connection;
        private final List<String> refused = new CopyOnWriteArrayList<>();

        Launcher(int node, int ranks) {
            entry = entry(node, ranks, 2, "1", "", "3");
            connection = connected(entry);
        }

        CompletableFuture<LauncherConnections> meets(int generation, Duration hold) {
            return meets(generation, hold, LONG_TIMES);
        }

        CompletableFuture<LauncherConnections> meets(int generation, Duration hold, WaitTimeouts times) {
            return OnThread.start(() -> {
                GenerationStart start = new GenerationStart(generation, true, hold);
                Listening waiting = new Listening(refused);
                LauncherConnections met = LauncherConnections.meet(connection, entry, times, waiting, start);
                open.add(0, met);
                return met;
            });
        }
    }

    private List<LauncherConnections> met(int generation) throws Exception {
        CompletableFuture<LauncherConnections> zero = launcher(0).meets(generation, Duration.ZERO);
        CompletableFuture<LauncherConnections> one = launcher(1).meets(generation, Duration.ZERO);
        return List.of(result(zero), result(one));
    }

    private static String concluded(List<LauncherConnections> nodes, String verdict) throws Exception {
        CompletableFuture<String> other = OnThread.start(() -> {
            try (LauncherConnections one = nodes.get(1)) {
                return one.conclude(orders -> "one", all -> "alone");
            }
        });
        nodes.get(0).conclude(orders -> "zero", all -> verdict);
        nodes.get(0).close();
        return result(other);
    }

    @Test
    void newsOfTheEarlierGenerationDoNotReachTheNext() throws Exception {
        List<LauncherConnections> first = met(0);
        first.forEach(HeardNews::begin);
        first.get(1).failed(1, 7);
        first.get(1).signalled("TERM", 1);
        assertEquals("again", concluded(first, "again"));

        List<LauncherConnections> second = met(1);
        HeardNews news = HeardNews.begin(second.get(0));
        HeardNews.begin(second.get(1));

        second.get(1).failed(1, 9);

        assertEquals("failed 9", news.next());
        assertEquals(1, second.get(1).generation());
        assertEquals("over", concluded(second, "over"));
    }

    /** The store of launchers lives through all generations. */
    @Test
    void keysOfTheEarlierGenerationAreRemovedFromTheStore() throws Exception {
        List<LauncherConnections> first = met(0);
        first.forEach(HeardNews::begin);
        first.get(1).failed(1, 7);
        first.get(1).signalled("TERM", 1);
        first.get(1).ended(1, RankEnd.of(17, "h1", 7));
        concluded(first, "again");
        StoreKeys old = new StoreKeys(0);
        List<String> keys = new ArrayList<>(old.all(first.get(0).entries(), 1));
        keys.removeAll(List.of(old.joined(), old.end(0), old.end(1), old.signal(0, 1)));
        Launcher reader = launcher(1);
        for (String key : keys) {
            assertTrue(isSet(reader, key), key);
        }

        met(1).forEach(HeardNews::begin);

        // the last step of the removal
        Processes.await(
                () -> reader.connection.store().get(old.verdict(), LONG)[0] == '!', LONG, "the old verdict stays");
        for (String key : keys) {
            assertFalse(isSet(reader, key), key);
        }
    }

    @Test
    void theKeysOfAGenerationHaveEverySignalOfEachLauncher() {
        StoreKeys keys = new StoreKeys(1);

        List<String> all = keys.all(List.of(LauncherEntry.alone("h0", 2)), 3);

        assertTrue(all.containsAll(List.of(keys.signal(0, 1), keys.signal(0, 2), keys.signal(0, 3))), "" + all);
    }

    private static boolean isSet(Launcher launcher, String key) {
        CompletableFuture<byte[]> value = launcher.connection.store().when(key).toCompletableFuture();
        // answers come in order
        launcher.connection.store().add("any", 0);
        return value.isDone();
    }

    @Test
    @DisplayName("row 54: a launcher that is started again takes the place of its node in the next generation")
    void aRestartedLauncherTakesItsNodeInTheNextGeneration() throws Exception {
        List<LauncherConnections> first = met(0);
        first.forEach(HeardNews::begin);
        CompletableFuture<LauncherConnections> again = launcher(1).meets(0, Duration.ZERO);
        first.get(1).close();
        first.get(0).conclude(orders -> "zero", all -> "again");
        first.get(0).close();

        CompletableFuture<LauncherConnections> zero = launcher(0).meets(1, Duration.ZERO);

        assertEquals(1, result(again).generation());
        assertEquals(1, result(zero).generation());
        assertEquals(result(zero).entries(), result(again).entries());
    }

    @Test
    void aRestartedLauncherWithOtherOptionsIsRefusedAlone() throws Exception {
        List<LauncherConnections> first = met(0);
        first.forEach(HeardNews::begin);
        first.get(1).close();
        first.get(0).conclude(orders -> "zero", all -> "again");
        first.get(0).close();
        CompletableFuture<LauncherConnections> zero = launcher(0).meets(1, Duration.ZERO);

        CompletableFuture<LauncherConnections> other = new Launcher(1, 2).meets(0, Duration.ZERO);

        Throwable refused = assertThrows(ExecutionException.class, () -> result(other));
        assertHas(refused.getMessage(), "-n differs: 1 on node 0 (host h0, ");
        CompletableFuture<LauncherConnections> right = launcher(1).meets(0, Duration.ZERO);
        assertEquals(1, result(right).generation());
        assertEquals(result(zero).entries(), result(right).entries());
    }

    /** A signal has come while its ranks ended. Its store ends with it, so it stays until the others have come. */
    @Test
    void aLauncherOfNodeZeroEndsOnlyAfterTheOthersHaveCome() throws Exception {
        Launcher zero = launcher(0);
        Launcher one = launcher(1);
        GenerationStart start = new GenerationStart(1, true, Duration.ZERO);
        CompletableFuture<JobStartException> ended = CompletableFuture.supplyAsync(() -> {
            Thread.currentThread().interrupt();
            return assertThrows(
                    JobStartException.class,
                    () -> LauncherConnections.meet(zero.connection, zero.entry, LONG_TIMES, missing -> {}, start));
        });
        result(one.connection.store().when(new StoreKeys(1).start()).toCompletableFuture());
        assertThrows(TimeoutException.class, () -> ended.get(300, TimeUnit.MILLISECONDS));

        CompletableFuture<LauncherConnections> comes = one.meets(1, Duration.ZERO);

        String text = message(ExecutionException.class, () -> result(comes));
        assertTrue(text.endsWith("node 0 (host h0, 127.0.0.1) was ended before a rank was started"), text);
        assertTrue(text.endsWith(result(ended).getMessage()), text);
    }

    /** A signal comes when node 0 has begun, and this launcher has not read it yet. The others count on it. */
    @Test
    void aSignalAfterTheStartOfNodeZeroDoesNotEndALauncherAlone() throws Exception {
        Launcher zero = launcher(0);
        Launcher one = launcher(1);
        List<LauncherEntry> both = List.of(zero.entry, one.entry);
        WaitListener begunMeanwhile = new WaitListener() {
            @Override
            public void missing(Set<Integer> nodes) {}

            @Override
            public JobStartException interrupted() {
                // set returns before the store has the key
                zero.connection
                        .store()
                        .compareAndSet(new StoreKeys(1).start(), null, StoreKeys.encoded(StartDecision.of(both)));
                return WaitListener.super.interrupted();
            }
        };
        CompletableFuture<LauncherConnections> goesOn = OnThread.start(() -> {
            Thread.currentThread().interrupt();
            return LauncherConnections.meet(
                    one.connection, one.entry, LONG_TIMES, begunMeanwhile, new GenerationStart(1, true, Duration.ZERO));
        });

        assertEquals(both, result(goesOn).entries());
        result(goesOn).close();
    }

    @Test
    void aSecondLauncherOfARunningNodeIsRefusedAlone() throws Exception {
        List<LauncherConnections> first = met(1);
        Launcher second = launcher(1);
        // it also waits so long for the entry of node 0
        Duration timeout = Duration.ofSeconds(3);
        NodeSlot place = new NodeSlot(second.connection.store(), second.entry, timeout, missing -> {});

        JobStartException refused =
                assertThrows(JobStartException.class, () -> place.taken(new GenerationStart(0, true, Duration.ZERO)));

        assertStarts(refused.getMessage(), "two launchers have --node-rank 1");
        first.forEach(HeardNews::begin);
        assertEquals("over", concluded(first, "over"));
    }

    /** A loop of a shell has started it again, although the launcher before it runs: the loop ends with the job. */
    @Test
    void aSecondLauncherEndsWithTheExitCodeOfTheJob() throws Exception {
        List<LauncherConnections> first = met(0);
        CompletableFuture<String> held = new CompletableFuture<>();
        CompletableFuture<JobStartException> second =
                waitsFor(launcher(1), new GenerationStart(0, true, Duration.ZERO), held);
        result(held);

        first.get(0).jobEnds(7);

        assertEquals(7, result(second).exitCode());
        assertEquals(
                "the job has ended with exit code 7, so this launcher of node 1 starts no rank",
                result(second).getMessage());
    }

    @Test
    void aSecondLauncherEndsWithAJobThatIsNotRestarted() throws Exception {
        Launcher zero = launcher(0);
        Launcher one = launcher(1);
        GenerationStart start = new GenerationStart(1, true, Duration.ZERO);
        StoreKeys.first(one.connection.store(), new StoreKeys(1).card(1), StoreKeys.encoded(one.entry));
        CompletableFuture<String> held = new CompletableFuture<>();
        CompletableFuture<JobStartException> second = waitsFor(launcher(1), start, held);
        result(held);

        CompletableFuture.runAsync(() -> {
            Thread.currentThread().interrupt();
            assertThrows(
                    JobStartException.class,
                    () -> LauncherConnections.meet(zero.connection, zero.entry, LONG_TIMES, missing -> {}, start));
        });

        assertEquals(1, result(second).exitCode());
        assertStarts(result(second).getMessage(), "the job has ended with exit code 1");
    }

    /** Waits as a second launcher of a node, and tells when it has found the first one. */
    private static CompletableFuture<JobStartException> waitsFor(
            Launcher second, GenerationStart start, CompletableFuture<String> held) {
        WaitListener waiting = new WaitListener() {
            @Override
            public void missing(Set<Integer> nodes) {}

            @Override
            public void held(LauncherEntry holder) {
                held.complete("held");
            }
        };
        return CompletableFuture.supplyAsync(() -> assertThrows(
                JobStartException.class,
                () -> new NodeSlot(second.connection.store(), second.entry, LONG, waiting).taken(start)));
    }

    @Test
    void aLauncherThatLeavesDuringTheRestartDelayIsReplaced() throws Exception {
        Launcher zero = launcher(0);
        HeldTasks thread = new HeldTasks();
        try {
            StoreKeys keys = new NodeSlot(zero.connection.store(), zero.entry, LONG, missing -> {})
                    .taken(new GenerationStart(1, true, Duration.ZERO));
            StartCoordinator roll =
                    new StartCoordinator(zero.connection.store(), zero.entry, thread, missing -> {}, keys);
            roll.call(1, 1);
            Launcher leaves = launcher(1);
            StoreKeys.first(leaves.connection.store(), keys.card(1), StoreKeys.encoded(leaves.entry));
            Processes.await(() -> roll.missing().isEmpty(), LONG, "node 1 is missing");
            leaves.connection.close();
            Processes.await(() -> !roll.missing().isEmpty(), LONG, "node 1 has not left");

            Launcher replaces = launcher(1);
            new NodeSlot(replaces.connection.store(), replaces.entry, LONG, missing -> {})
                    .taken(new GenerationStart(0, true, Duration.ZERO));
            Processes.await(() -> roll.missing().isEmpty(), LONG, "node 1 is missing");
            CompletableFuture<byte[]> start =
                    replaces.connection.store().when(keys.start()).toCompletableFuture();
            replaces.connection.store().add("any", 0);
            assertFalse(start.isDone(), "all are there, but the time has not passed");
            thread.held.get(0).run();

            StartDecision decided = StoreKeys.decoded(result(start), StartDecision.class);
            assertEquals(List.of(zero.entry, replaces.entry), decided.entries());
            // a launcher of another build reads these names, and then reports that the versions differ
            assertHas(new String(result(start), StandardCharsets.UTF_8), "\"refusal\":", "\"code\":", "\"cards\":");
        } finally {
            thread.shutdownNow();
        }
    }

    /** A wrong secret ends the meeting in which its node is missing, and no later one. No other refusal is logged again. */
    @Test
    void refusalsInAnEarlierGenerationAreForgotten() throws Exception {
        List<LauncherConnections> first = met(0);
        first.forEach(HeardNews::begin);
        assertThrows(FerroException.class, () -> connected("job", WRONG, 1, 5));
        Launcher next = launcher(0);
        for (String key : List.of(LauncherClient.STRANGER, LauncherClient.otherJobKey(1))) {
            next.connection.store().set(key, "127.0.0.9\nPROTOCOL\nanother version".getBytes(StandardCharsets.UTF_8));
        }
        concluded(first, "again");

        CompletableFuture<LauncherConnections> zero = next.meets(1, Duration.ZERO);
        assertThrows(TimeoutException.class, () -> zero.get(300, TimeUnit.MILLISECONDS), "node 1 is missing");
        result(launcher(1).meets(1, Duration.ZERO));

        assertEquals(2, result(zero).entries().size());
        assertEquals(List.of(), next.refused);
    }

    @Test
    void aLauncherThatWasPausedIntoTheNextGenerationEndsWithTheReason() throws Exception {
        WaitTimeouts soon = new WaitTimeouts(LONG, Duration.ofMillis(400), LONG);
        CompletableFuture<LauncherConnections> zero = launcher(0).meets(0, Duration.ZERO, soon);
        LauncherConnections stopped = result(launcher(1).meets(0, Duration.ZERO));
        HeardNews.begin(result(zero));
        String verdict = result(zero)
                .conclude(orders -> "zero", all -> "lost " + all.lost().keySet());
        assertEquals("lost [1]", verdict);
        result(zero).close();

        List<LauncherConnections> second = met(1);
        second.forEach(HeardNews::begin);
        HeardNews.begin(stopped);
        // node 0 tells it without waiting
        Processes.await(() -> set.contains(new StoreKeys(0).verdict()), LONG, "there is no verdict");

        String alone =
                stopped.conclude(orders -> "one", all -> all.lost().get(0).why());
        assertEquals("its launcher has started generation 1 without it", alone);
        assertEquals("over", concluded(second, "over"));
    }

    @Test
    void theEndOfARankBelongsToItsGeneration() throws Exception {
        List<LauncherConnections> nodes = met(1);

        nodes.get(1).ended(3, RankEnd.of(17, "h1", 7));

        String key = set.poll(20, TimeUnit.SECONDS);
        assertEquals(Optional.of(3), LauncherConnections.endedRank(key, 1));
        assertEquals(Optional.empty(), LauncherConnections.endedRank(key, 0));
        assertEquals(Optional.empty(), LauncherConnections.endedRank(key, 11));
    }
}
