package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.net.LoopWaiter;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.backend.tcp.store.JoiningContext;
import ferro.backend.tcp.store.Rendezvous;
import ferro.backend.tcp.store.StoreConnector;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Joining: who is let in, who is not, and what everybody is told. */
@Timeout(60)
class TcpJoinTest {
    private static final String CANARY = "canary-3141592653";
    private static final Pattern WITHIN = Pattern.compile("within (\\d+) ms");
    /** What is promised of times shows in the quickest of several tries: the machine may do something else. */
    private static final int TRIES = 20;

    private final Ranks ranks = Ranks.onLoopback();

    @AfterEach
    void end() {
        ranks.close();
    }

    @Test
    @DisplayName("row 23: a rank that never comes is named on all that are there, at the deadline")
    void aRankThatNeverJoinsIsNamedByTheOthersAtTheDeadline() {
        readClasses();
        long deadline = Ranks.SHORT.toMillis();
        long least = Long.MAX_VALUE;
        for (int tries = 0; tries < TRIES && least >= deadline + 100; tries++) {
            CompletableFuture<TcpMesh> first = ranks.join(0, 4, Ranks.SHORT);
            CompletableFuture<TcpMesh> second = ranks.join(2, 4, Ranks.SHORT);

            least = Math.min(least, Math.max(missed(first, List.of(1, 3), 4), missed(second, List.of(1, 3), 4)));
        }
        assertTrue(least >= deadline && least < deadline + 100, least + " ms");
    }

    /** The first join of a process reads its classes, which may take longer than a short deadline. */
    private static void readClasses() {
        try (Ranks ranks = Ranks.onLoopback()) {
            ranks.joinAll(2);
        }
    }

    /** Returns whether a rank or the store of this busy machine was late itself, and so says nothing about others. */
    private static boolean isLate(FerroException failure) {
        String text = failure.getMessage();
        return text.contains("give the rank a free core")
                || text.contains("without a free core")
                || text.contains("went into the start of this rank");
    }

    /** Returns after how many milliseconds a join has failed that misses these ranks; the longest time if it was late itself. */
    private static long missed(CompletableFuture<TcpMesh> joining, List<Integer> missing, int worldSize) {
        FerroException failure = Ranks.failure(joining);
        if (isLate(failure)) {
            return Long.MAX_VALUE;
        }
        Ranks.assertSays(failure, Code.RENDEZVOUS, "missing: " + missing + " of " + worldSize);
        assertEquals(Set.copyOf(missing), failure.where().culprits());
        Matcher within = WITHIN.matcher(failure.getMessage());
        assertTrue(within.find(), failure.getMessage());
        return Long.parseLong(within.group(1));
    }

    @Test
    void aJoinHasItsOwnTimeout() {
        Map<String, String> patient = Map.of("ferro.join.timeout", "20s");
        CompletableFuture<TcpMesh> first = ranks.join(0, 2, Duration.ofMillis(1), patient);
        CompletableFuture<TcpMesh> second = ranks.join(1, 2, Duration.ofMillis(1), patient);
        assertEquals(0, Ranks.result(first).rank());
        assertEquals(1, Ranks.result(second).rank());
        List.of(first, second).forEach(one -> Ranks.result(one).close());

        FerroException alone = unlessLate(time -> ranks.join(0, 2, Ranks.LONG, joinTimeout(time)));
        long millis = missed(CompletableFuture.failedFuture(alone), List.of(1), 2);
        ranks.server.close();
        FerroException unserved = unlessLate(time -> ranks.join(1, 2, Ranks.LONG, joinTimeout(time)));

        assertTrue(millis >= 300 && millis < Ranks.LONG.toMillis() / 2, millis + " ms");
        Ranks.assertSays(alone, Code.RENDEZVOUS, "(ferro.join.timeout sets the time)");
        Ranks.assertSays(unserved, Code.RENDEZVOUS, "the launcher is missing", "(ferro.join.timeout sets the time)");
    }

    @Test
    void timeoutsOfAThousandYearsAreAcceptedByJoinAndStore() {
        Duration endless = Duration.ofDays(365_000);
        CompletableFuture<TcpMesh> first = ranks.join(0, 2, endless);
        CompletableFuture<TcpMesh> second = ranks.join(1, 2, endless);

        assertEquals(0, Ranks.result(first).rank());
        assertEquals(1, Ranks.result(second).rank());
        JoiningContext context = ranks.context(GroupSpec.of("g", 0, 2, endless), Map.of());
        context.store().set("key", new byte[] {3});
        assertEquals(3, context.store().get("key", endless)[0]);
    }

    @Test
    void aGroupThatFailedToJoinCanBeTriedAgain() {
        Ranks.failure(ranks.join(0, 2, Duration.ofMillis(300)));

        List<TcpMesh> meshes = ranks.joinAll(2);

        assertEquals(2, meshes.size());
    }

    @Test
    @DisplayName("row 24: the next generation of a group takes the place of the one that was closed")
    void aGroupThatWasClosedCanBeJoinedAgainUnderItsName() {
        for (int round = 0; round < 3; round++) {
            ranks.joinAll(3).forEach(TcpMesh::close);
        }
    }

    @Test
    @DisplayName("row 24: a second process with a rank is refused at once, and the first unharmed")
    void aSecondProcessWithARankIsRefusedAtOnceAndTheFirstUnharmed() {
        List<TcpMesh> meshes = ranks.joinAll(2);
        long start = System.nanoTime();

        FerroException failure = Ranks.failure(ranks.join(1, 2, Ranks.LONG));

        Ranks.assertSays(
                failure,
                Code.RENDEZVOUS,
                "rank 1 of \"g\" has already joined",
                "process " + ProcessHandle.current().pid(),
                "127.0.0.1:");
        assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(5), "not at once");
        Recorder recorder = new Recorder();
        meshes.get(0).register(5, recorder.inMesh());
        meshes.get(1).control(0, 5, java.nio.ByteBuffer.wrap(new byte[] {'!'}));
        assertEquals("!", recorder.next().text());
    }

    @Test
    @DisplayName("row 26: world sizes that differ fail on all ranks with both values")
    void worldSizesThatDifferFailOnAllRanksWithBothValues() {
        CompletableFuture<TcpMesh> first = ranks.join(0, 2, Ranks.LONG);
        CompletableFuture<TcpMesh> second = ranks.join(1, 3, Ranks.LONG);

        for (CompletableFuture<TcpMesh> one : List.of(first, second)) {
            Ranks.assertSays(Ranks.failure(one), Code.RENDEZVOUS, "world size ", "2", "3");
        }
    }

    @Test
    @DisplayName("row 25: another job is refused by the store within 100 ms, both named")
    void anotherJobIsRefusedByTheStoreNamingBoth() {
        Map<String, String> foreign = Map.of("FERRO_JOB_ID", "other");
        Ranks.failure(ranks.join(0, 2, Ranks.LONG, foreign)); // the first is slow: nothing is loaded yet
        long least = Long.MAX_VALUE;
        for (int tries = 0; tries < TRIES && least >= 100; tries++) {
            long start = System.nanoTime();
            FerroException failure = Ranks.failure(ranks.join(1, 2, Ranks.LONG, foreign));
            least = Math.min(least, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));

            Ranks.assertSays(
                    failure, Code.RENDEZVOUS, "\"default\"", "\"other\"", "that the launcher serves: this is job");
        }
        assertTrue(least < 100, least + " ms");
    }

    @Test
    void secretsThatDifferAreUnauthenticatedAndNeverShown(@TempDir Path folder) throws IOException {
        Path right = secret(folder.resolve("right"), CANARY, "rw-------");
        Path wrong = secret(folder.resolve("wrong"), CANARY + "x", "rw-------");
        try (Ranks ranks = new Ranks(CANARY.getBytes(StandardCharsets.UTF_8))) {
            List<FerroException> failures = new ArrayList<>();
            failures.add(Ranks.failure(ranks.join(1, 2, Ranks.LONG, Map.of("FERRO_SECRET_FILE", wrong.toString()))));
            failures.add(Ranks.failure(ranks.join(1, 2, Ranks.LONG)));
            CompletableFuture<TcpMesh> one =
                    ranks.join(0, 2, Ranks.LONG, Map.of("FERRO_SECRET_FILE", right.toString()));
            CompletableFuture<TcpMesh> two =
                    ranks.join(1, 2, Ranks.LONG, Map.of("FERRO_SECRET_FILE", right.toString()));

            assertEquals(0, Ranks.result(one).rank());
            assertEquals(1, Ranks.result(two).rank());
            Ranks.assertSays(failures.get(0), Code.UNAUTHENTICATED, "FERRO_SECRET_FILE");
            Ranks.assertSays(
                    failures.get(1), Code.UNAUTHENTICATED, "accepting side has a secret", "connecting side has none");
            for (FerroException failure : failures) {
                assertFalse(failure.toString().contains(CANARY), failure.toString());
            }
        }
    }

    @Test
    void aSecretThatOthersCanReadIsRefused(@TempDir Path folder) throws IOException {
        Path open = secret(folder.resolve("open"), CANARY, "rw-r--r--");
        FerroException failure =
                Ranks.failure(ranks.join(1, 2, Ranks.LONG, Map.of("FERRO_SECRET_FILE", open.toString())));

        Ranks.assertSays(failure, Code.UNAUTHENTICATED, "0600", "GROUP_READ");
    }

    private static Path secret(Path file, String text, String mode) throws IOException {
        Files.writeString(file, text + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    @Test
    void anOpenAddressWithoutASecretIsRefusedWithTheRemedy() {
        FerroException failure = Ranks.failure(ranks.join(1, 2, Ranks.LONG, Map.of("ferro.tcp.bind", "0.0.0.0")));

        Ranks.assertSays(failure, Code.UNAUTHENTICATED, "0.0.0.0", "FERRO_SECRET_FILE");
    }

    @Test
    void aWeakSecretIsRefusedWithAnOpenAddress(@TempDir Path folder) throws IOException {
        Path weak = secret(folder.resolve("weak"), "0123456789abcdef", "rw-------");
        Map<String, String> open = Map.of("ferro.tcp.bind", "0.0.0.0", "FERRO_SECRET_FILE", weak.toString());
        try (Ranks ranks = new Ranks("0123456789abcdef".getBytes(StandardCharsets.UTF_8))) {
            FerroException failure = Ranks.failure(ranks.join(1, 2, Ranks.LONG, open));

            Ranks.assertSays(failure, Code.UNAUTHENTICATED, "0.0.0.0 with a secret of 8 random bytes at most: need 16");
        }
    }

    @Test
    @DisplayName("row 23: without rank 0 the others name it, and the store that it serves")
    void withoutRankZeroTheOthersNameRankZeroAndItsStore() {
        ranks.server.close();
        Map<String, String> unserved = Map.of("FERRO_STORE_SERVED", "0");

        FerroException failure = unlessLate(time -> ranks.join(1, 2, time, unserved));

        String store = "the store at 127.0.0.1:" + ranks.server.port() + " that rank 0 serves within ";
        Ranks.assertSays(failure, Code.RENDEZVOUS, "rank 0 is missing, cannot connect to " + store, "attempts");
        assertEquals(Set.of(0), failure.where().culprits());
    }

    private static Map<String, String> joinTimeout(Duration time) {
        return Map.of("ferro.join.timeout", time.toMillis() + "ms");
    }

    /** Returns the failure of a join; on a busy machine the rank may be late itself, so that it needs more time. */
    private static FerroException unlessLate(Function<Duration, CompletableFuture<TcpMesh>> join) {
        Duration time = Duration.ofMillis(300);
        FerroException failure = Ranks.failure(join.apply(time));
        while (isLate(failure) && time.toSeconds() < 20) {
            time = time.multipliedBy(2);
            failure = Ranks.failure(join.apply(time));
        }
        return failure;
    }

    @Test
    void aMissingStoreOfTheLauncherIsNamed() {
        ranks.server.close();

        FerroException failure = unlessLate(time -> ranks.join(1, 2, time));

        Ranks.assertSays(failure, Code.RENDEZVOUS, "the launcher is missing", "that the launcher serves within ");
        assertEquals(Set.of(), failure.where().culprits());
    }

    @Test
    void waitingForTheStoreIsLoggedAfterThreeSecondsAndThenEveryTen() throws InterruptedException {
        ranks.server.close();

        String store = "the store at 127.0.0.1:" + ranks.server.port() + " that ";
        assertStarts(
                "waiting for ranks [0] of 2: " + store + "rank 0 serves", Map.of("FERRO_STORE_SERVED", "0"), ranks);
        assertStarts("waiting for " + store + "the launcher serves", Map.of(), ranks);
    }

    private static void assertStarts(String begin, Map<String, String> settings, Ranks ranks)
            throws InterruptedException {
        List<String> lines = lines(ranks, settings, "within");
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).startsWith(begin), lines::toString);
    }

    @Test
    void aStoreHostWithoutAnAddressIsLogged() throws InterruptedException {
        assertEquals(
                List.of("waiting for an address of \"nowhere.invalid\", the host of the store"),
                lines(ranks, Map.of("MASTER_ADDR", "nowhere.invalid"), "pause"));
    }

    /** Returns what rank 1 says while its thread is inside a method of Waits. */
    private static List<String> lines(Ranks ranks, Map<String, String> settings, String inside)
            throws InterruptedException {
        GroupSpec spec = GroupSpec.of("g", 1, 2, Ranks.LONG);
        try (JoiningContext context = ranks.context(spec, settings)) {
            KeptTask kept = new KeptTask();
            RankContext keeping = new ForwardingContext(context) {
                @Override
                public ScheduledExecutorService background() {
                    return kept;
                }
            };
            List<String> lines = new ArrayList<>();
            CompletableFuture<Thread> opening = new CompletableFuture<>();
            CompletableFuture<?> open = Threads.start(() -> {
                opening.complete(Thread.currentThread());
                return StoreConnector.open(Rendezvous.env(spec, context), spec, keeping, lines::add);
            });
            Threads.awaitInside(LoopWaiter.class, inside, 1);

            kept.task.run();
            Ranks.result(opening).interrupt();

            assertEquals(Code.INTERRUPTED, Ranks.failure(open).code());
            assertTrue(kept.firstMillis > 0 && kept.firstMillis <= 3_000, kept.firstMillis + " ms");
            assertEquals(10_000, kept.laterMillis);
            kept.shutdownNow();
            return lines;
        }
    }

    /** Runs nothing by itself that is to run again and again. */
    private static final class KeptTask extends ScheduledThreadPoolExecutor {
        private volatile Runnable task;
        private volatile long firstMillis;
        private volatile long laterMillis;

        KeptTask() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable again, long first, long later, TimeUnit unit) {
            task = again;
            firstMillis = unit.toMillis(first);
            laterMillis = unit.toMillis(later);
            return schedule(() -> {}, 1, TimeUnit.DAYS);
        }
    }

    @Test
    void anInterruptEndsAJoinWithTheFlagSet() {
        GroupSpec spec = GroupSpec.of("g", 0, 2, Ranks.LONG);
        JoiningContext context = ranks.context(spec, Map.of());
        CompletableFuture<Thread> started = new CompletableFuture<>();
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        CompletableFuture<TcpMesh> joining = Threads.start(() -> {
            context.store();
            started.complete(Thread.currentThread());
            try {
                return TcpMesh.join(spec, context);
            } finally {
                flag.complete(Thread.currentThread().isInterrupted());
            }
        });

        Ranks.result(started).interrupt();

        Ranks.assertSays(Ranks.failure(joining), Code.INTERRUPTED, "interrupted");
        assertTrue(Ranks.result(flag));
    }

    @Test
    void rankZeroServesTheStoreOnOnePortAndOthersMayStartFirst() throws IOException {
        int port = Sockets.freePort();
        Map<String, String> served = new HashMap<>();
        served.put("MASTER_PORT", Integer.toString(port));
        served.put("FERRO_STORE_SERVED", "0");
        try (Ranks three = Ranks.onLoopback()) {
            CompletableFuture<TcpMesh> later = three.join(1, 3, Ranks.LONG, served);
            CompletableFuture<TcpMesh> last = three.join(2, 3, Ranks.LONG, served);
            CompletableFuture<TcpMesh> first = three.join(0, 3, Ranks.LONG, served);

            Ranks.result(first);
            Ranks.result(later);
            Ranks.result(last);

            assertEquals(List.of("127.0.0.1"), Sockets.listening(port));
        }
        assertEquals(List.of(), Sockets.listening(port));
    }

    @Test
    void underTorchrunTheStoreTakesThePortAfterThatOfTheAgent() throws IOException {
        int port = Sockets.freePort();
        Map<String, String> torch = new HashMap<>();
        torch.put("MASTER_PORT", Integer.toString(port - 1));
        torch.put("FERRO_STORE_SERVED", "0");
        torch.put("TORCHELASTIC_USE_AGENT_STORE", "True");
        CompletableFuture<TcpMesh> first = ranks.join(0, 2, Ranks.LONG, torch);
        CompletableFuture<TcpMesh> second = ranks.join(1, 2, Ranks.LONG, torch);

        Ranks.result(first);
        Ranks.result(second);

        assertEquals(List.of("127.0.0.1"), Sockets.listening(port));
    }

    @Test
    void theConfiguredPortAndAddressAreBound() throws IOException {
        int port = Sockets.freePort();
        Map<String, String> asked = Map.of("ferro.tcp.port", Integer.toString(port), "ferro.tcp.bind", "127.0.0.2");
        CompletableFuture<TcpMesh> first = ranks.join(0, 2, Ranks.LONG);
        CompletableFuture<TcpMesh> second = ranks.join(1, 2, Ranks.LONG, asked);

        Ranks.result(first);
        Ranks.result(second);

        assertEquals(List.of("127.0.0.2"), Sockets.listening(port));
    }

    @Test
    void nothingStaysOpenAfterTheLastClose() {
        GroupSpec spec = GroupSpec.of("g", 0, 2, Ranks.LONG);
        JoiningContext context = ranks.context(spec, Map.of());
        CompletableFuture<TcpMesh> first = Threads.start(() -> TcpMesh.join(spec, context));
        Ranks.result(ranks.join(1, 2, Ranks.LONG));
        TcpMesh mesh = Ranks.result(first);

        mesh.close();

        boolean[] made = new boolean[1];
        assertThrows(
                IllegalStateException.class,
                () -> context.shared(TcpPort.class, () -> {
                    made[0] = true;
                    throw new IllegalStateException("made anew");
                }));
        assertTrue(made[0], "the port is still in use");
    }
}
