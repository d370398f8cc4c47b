package ferro.launcher.nodes;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.nodes.GenerationStart.ONLY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.store.LauncherClient;
import ferro.harness.OnThread;
import ferro.launcher.input.JobStartException;
import ferro.launcher.nodes.LauncherConnections.WaitTimeouts;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Launchers of one job over loopback, all in this JVM: how they find each other, exchange events and end. */
@Timeout(60)
class LauncherConnectionsTest extends LaunchersOnLoopback {
    private static final Duration SHORT = Duration.ofMillis(400);

    @Test
    void launchersExchangeNewsAndEndWithOneVerdict() throws Exception {
        List<LauncherConnections> nodes = both(LONG, LONG);
        HeardNews zero = HeardNews.begin(nodes.get(0));
        HeardNews one = HeardNews.begin(nodes.get(1));

        nodes.get(0).joined();
        assertEquals("AllJoinedEvent[]", one.next());
        nodes.get(1).signalled("TERM", 1);
        assertEquals("AllJoinedEvent[]", zero.next());
        assertEquals("signal TERM 1", zero.next());
        nodes.get(1).failed(3, 7);
        assertEquals("failed 7", zero.next());
        nodes.get(0).failed(0, 1);

        CompletableFuture<String> other =
                OnThread.start(() -> nodes.get(1).conclude(orders -> "one" + orders, all -> "not asked"));
        String verdict = nodes.get(0).conclude(orders -> "zero" + orders, LauncherConnectionsTest::shown);
        assertEquals("{0=zero{0=2}, 1=one{3=1}} {}", verdict);
        nodes.get(1).close();
        assertEquals(verdict, result(other));
    }

    @Test
    @DisplayName("row 42: what differs between launchers is refused on both with both values")
    void differentOptionsAreRefusedOnBothNodesWithBothValues() throws Exception {
        Map<String, LauncherEntry> others = Map.of(
                "-n differs: 2 on node 0 (host h0, 127.0.0.1), 3 on", entry(1, 3, "1"),
                "ferro differs: 1 on node 0", entry(1, 2, "2"),
                "--debug differs: none on node 0 (host h0, 127.0.0.1), 0, 3 on", entry(1, 2, "1", "0, 3"));
        for (Map.Entry<String, LauncherEntry> other : others.entrySet()) {
            serveAnew();
            CompletableFuture<LauncherConnections> zero = meeting(entry(0), LONG_TIMES);
            String text = refusal(meeting(other.getValue(), LONG_TIMES));
            assertEquals(refusal(zero), text);
            assertHas(text, other.getKey(), "on node 1 (host h1, 127.0.0.2): need the same");
        }
    }

    @Test
    void aSecondLauncherOfANodeIsRefusedWithAllThatWait() throws Exception {
        CompletableFuture<LauncherConnections> zero = meeting(ofThree(0), LONG_TIMES);
        LauncherEntry first = ofThree(1);
        LauncherClient there = connected(first);
        CompletableFuture<LauncherConnections> one =
                OnThread.start(() -> LauncherConnections.meet(there, first, LONG_TIMES, missing -> {}, ONLY));
        there.store().get(StoreKeys.FIRST.card(1), LONG);

        String text = refusal(meeting(ofThree(1), LONG_TIMES));

        assertStarts(text, "two launchers have --node-rank 1: host h1 (127.0.0.2) and host h1");
        assertEquals(text, refusal(zero));
        assertEquals(text, refusal(one));
    }

    @Test
    void aMissingNodeIsNamedAtTheDeadlineAndAWrongSecretAtOnce() throws Exception {
        CompletableFuture<LauncherConnections> late = meeting(entry(0), new WaitTimeouts(SHORT, LONG, LONG));
        String text = refusal(late);
        assertStarts(text, "node 1 of 2 did not connect within ");

        serveAnew();
        CompletableFuture<LauncherConnections> waiting = meeting(entry(0), LONG_TIMES);
        FerroException refused = assertThrows(FerroException.class, () -> connected("job", WRONG, 1, 5));
        assertEquals(Code.UNAUTHENTICATED, refused.code());
        String said = refusal(waiting);
        assertStarts(said, "the secret of node 1 (127.0.0.1) differs from the secret of node 0");
    }

    @Test
    @DisplayName("row 39, row 41: a launcher that is gone or silent is lost")
    void aGoneOrSilentLauncherIsLostAndItsReportIsNotAwaited() throws Exception {
        List<LauncherConnections> nodes = both(LONG, LONG);
        HeardNews zero = HeardNews.begin(nodes.get(0));
        HeardNews.begin(nodes.get(1));
        nodes.get(1).close();
        assertEquals("failed 1", zero.next());
        String gone = nodes.get(0).conclude(orders -> "zero", LauncherConnectionsTest::shown);
        assertStarts(gone, "{0=zero} {1=LostNode");
        assertHas(gone, "the connection of its launcher has ended");

        serveAnew();
        List<LauncherConnections> silent = both(SHORT, LONG);
        HeardNews looking = HeardNews.begin(silent.get(0));
        // node 1 does not begin: it has shown its entry, and no heartbeat follows
        assertEquals("failed 1", looking.next());
        String lost = silent.get(0).conclude(orders -> "zero", all -> "" + all.lost());
        assertHas(lost, "its launcher sent nothing for 0.");
    }

    @Test
    void aLauncherThatEndsAfterItsReportIsNotLost() throws Exception {
        List<LauncherConnections> nodes = both(LONG, LONG);
        HeardNews zero = HeardNews.begin(nodes.get(0));
        HeardNews.begin(nodes.get(1));
        LauncherClient looking = connected(entry(2));
        OnThread.start(() -> nodes.get(1).conclude(orders -> "one", all -> "alone"));
        looking.store().get(StoreKeys.FIRST.report(1), LONG);
        nodes.get(1).close();
        looking.store()
                .get(LauncherClient.goneKey(1, nodes.get(0).entries().get(1).session()), LONG);

        String verdict = nodes.get(0).conclude(orders -> "zero", LauncherConnectionsTest::shown);

        assertEquals("{0=zero, 1=one} {}", verdict);
        assertEquals(List.of(), List.copyOf(zero.events()), "nothing has failed");
    }

    @Test
    void otherLaunchersJudgeAloneIfNodeZeroIsGone() throws Exception {
        List<LauncherConnections> nodes = both(LONG, LONG);
        HeardNews.begin(nodes.get(0));
        HeardNews one = HeardNews.begin(nodes.get(1));
        server.close();

        assertEquals("failed 1", one.next());
        String verdict = nodes.get(1).conclude(orders -> "one", LauncherConnectionsTest::shown);
        assertStarts(verdict, "{1=one} {0=LostNode");
        assertHas(verdict, "the connection to its launcher has ended");
    }

    @Test
    void aNodeThatCannotReportIsLostAndDelaysNoLauncher() throws Exception {
        for (boolean tooMuch : List.of(true, false)) {
            serveAnew();
            List<LauncherConnections> nodes = both(LONG, LONG);
            nodes.forEach(HeardNews::begin);
            CompletableFuture<String> other =
                    OnThread.start(() -> nodes.get(1).conclude(orders -> told(tooMuch), all -> "x"));

            CompletableFuture<String> zero =
                    OnThread.start(() -> nodes.get(0).conclude(orders -> "zero", LauncherConnectionsTest::shown));

            String verdict = result(zero);
            assertStarts(verdict, "{0=zero} {1=LostNode");
            assertHas(verdict, "could not report how its ranks ended");
            assertEquals(verdict, result(other));
        }
    }

    @Test
    void withoutAVerdictOfNodeZeroOthersJudgeAlone() throws Exception {
        List<LauncherConnections> nodes = both(LONG, LONG);
        nodes.forEach(HeardNews::begin);
        CompletableFuture<String> other =
                OnThread.start(() -> nodes.get(1).conclude(orders -> "one", LauncherConnectionsTest::shown));

        CompletableFuture<String> zero =
                OnThread.start(() -> nodes.get(0).conclude(orders -> "zero", all -> told(false)));

        assertThrows(ExecutionException.class, () -> result(zero));
        String verdict = result(other);
        assertStarts(verdict, "{1=one} {0=LostNode");
        assertHas(verdict, "could not find the cause");
    }

    @Test
    void aSilentLauncherIsNotAwaitedAfterTheEndOfTheJob() throws Exception {
        List<LauncherConnections> nodes = both(LONG, SHORT);
        nodes.forEach(HeardNews::begin);
        nodes.get(0).ended(141);

        String verdict = nodes.get(0).conclude(orders -> "zero", LauncherConnectionsTest::shown);

        assertStarts(verdict, "{0=zero} {1=LostNode");
        assertHas(verdict, "its launcher has not reported");
    }

    @Test
    void theSilenceLimitLeavesTimeForRanksToEnd() {
        Duration stopping = Duration.ofMillis(1500);
        assertEquals(Duration.ofSeconds(7), LauncherConnections.silence(Duration.ofSeconds(10), stopping));
        assertEquals(Duration.ofSeconds(1), LauncherConnections.silence(Duration.ofSeconds(2), stopping));
    }

    private static String told(boolean tooMuch) {
        if (tooMuch) {
            return "x".repeat(2 << 20);
        }
        throw new IllegalStateException("cannot be told");
    }

    @Test
    void aLauncherWithAnotherNumberOfNodesIsRefusedAlone() throws Exception {
        CompletableFuture<LauncherConnections> third = meeting(ofThree(2), LONG_TIMES);
        List<LauncherConnections> nodes = both(LONG, LONG);
        HeardNews zero = HeardNews.begin(nodes.get(0));
        HeardNews.begin(nodes.get(1));

        String text = refusal(third);
        String later = refusal(meeting(ofThree(2), LONG_TIMES));

        String expected = "--nodes differs: 2 on node 0 (host h0, 127.0.0.1), 3 on node 2 (host h2, 127.0.0.3)";
        assertStarts(text, expected);
        assertStarts(later, "two launchers have --node-rank 2");
        CompletableFuture<String> other = OnThread.start(() -> nodes.get(1).conclude(orders -> "one", all -> "alone"));
        String verdict = nodes.get(0).conclude(orders -> "zero", LauncherConnectionsTest::shown);
        assertEquals("{0=zero, 1=one} {}", verdict);
        nodes.get(1).close();
        assertEquals(verdict, result(other));
        assertEquals(List.of(), List.copyOf(zero.events()), "nothing has failed");
    }

    @Test
    @DisplayName("row 45: a launcher that is interrupted while it waits tells the others")
    void anInterruptedLauncherEndsTheWaitOfTheOthers() throws Exception {
        for (int ended = 0; ended < 2; ended++) {
            serveAnew();
            LauncherEntry entry = ofThree(ended);
            CompletableFuture<LauncherConnections> other = meeting(ofThree(1 - ended), LONG_TIMES);
            LauncherClient looking = connected(ofThree(2));
            looking.store().get(StoreKeys.FIRST.card(1 - ended), LONG);
            LauncherClient connection = connected(entry);
            CompletableFuture<String> interrupted = OnThread.start(() -> {
                Thread.currentThread().interrupt();
                JobStartException apart = assertThrows(
                        JobStartException.class,
                        () -> LauncherConnections.meet(connection, entry, LONG_TIMES, missing -> {}, ONLY));
                return Thread.interrupted() ? "still interrupted" : apart.getMessage();
            });
            String text = "node " + ended + " (host h" + ended + ", 127.0.0." + (ended + 1)
                    + ") was ended before a rank was started";
            assertEquals(text, result(interrupted));
            assertEquals(text, refusal(other));
        }
    }

    @Test
    @DisplayName("row 43: a node that cannot start its ranks ends the meeting, whichever comes first")
    void aNodeThatCannotStartItsRanksEndsTheRendezvous() throws Exception {
        JobStartException why = new JobStartException("cannot start its ranks: no such class", 2);
        for (int unfit = 0; unfit < 2; unfit++) {
            for (boolean first : List.of(true, false)) {
                serveAnew();
                LauncherEntry own = entry(unfit);
                LauncherEntry other = entry(1 - unfit);
                LauncherClient connection = connected(own);
                CompletableFuture<LauncherConnections> waiting = first ? null : meeting(other, LONG_TIMES);
                if (!first) {
                    connection.store().get(StoreKeys.FIRST.card(other.node()), LONG);
                }
                CompletableFuture<JobStartException> telling =
                        OnThread.start(() -> LauncherBarrier.tell(connection, own, why, LONG));
                connection.store().get(StoreKeys.FIRST.start(), LONG);
                CompletableFuture<LauncherConnections> met = first ? meeting(other, LONG_TIMES) : waiting;

                String text = own + " cannot start its ranks: no such class";
                assertEquals(text, refusal(met));
                JobStartException said = result(telling);
                assertEquals(text, said.getMessage());
                assertEquals(2, said.exitCode());
            }
        }
    }

    @Test
    void nodesThatCannotStartTheirRanksReportOneReason() throws Exception {
        List<CompletableFuture<JobStartException>> telling = new ArrayList<>();
        for (LauncherEntry own : List.of(entry(0), entry(1))) {
            LauncherClient connection = connected(own);
            JobStartException why = new JobStartException("has reason " + own.node(), 2);
            telling.add(OnThread.start(() -> {
                JobStartException said = LauncherBarrier.tell(connection, own, why, LONG);
                connection.close();
                return said;
            }));
        }
        assertEquals(result(telling.get(0)).getMessage(), result(telling.get(1)).getMessage());
    }

    @Test
    void nodeZeroReportsLaunchersOfOtherJobsAndVersionsAndWaitsOn() throws Exception {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        LauncherEntry first = entry(0);
        LauncherClient zero = connected(first);
        CompletableFuture<LauncherConnections> waiting =
                OnThread.start(() -> LauncherConnections.meet(zero, first, LONG_TIMES, new Listening(heard), ONLY));

        FerroException refused = assertThrows(FerroException.class, () -> connected("other", SECRET, 1, 5));
        assertTrue(LauncherClient.isRefusal(refused), refused.getMessage());
        assertHeard(
                heard,
                "node 0 (host h0, 127.0.0.1) refused a launcher of node 1 at 127.0.0.1 while node 1 was"
                        + " missing: this is job \"job\", you belong to job \"other\"");
        assertTrue(speakVersionThree() > 0, "told nothing");
        assertHeard(
                heard,
                "node 0 (host h0, 127.0.0.1) refused a process at 127.0.0.1 while node 1 was missing: protocol"
                        + " version ");

        open.add(meeting(entry(1), LONG_TIMES).get(20, TimeUnit.SECONDS));
        open.add(result(waiting));
    }

    @Test
    void refusedProcessesAreNamedIfANodeDoesNotCome() throws Exception {
        assertTrue(speakVersionThree() > 0, "told nothing");

        String text = refusal(meeting(entry(0), new WaitTimeouts(Duration.ofSeconds(2), LONG, LONG)));
        assertStarts(text, "node 1 of 2 did not connect within ");
        assertHas(text, " refused a process at 127.0.0.1 while", "yours is 3: run one version of ferro");
    }

    private static void assertHeard(BlockingQueue<String> heard, String start) throws InterruptedException {
        String text = heard.poll(20, TimeUnit.SECONDS);
        assertTrue(text != null && text.startsWith(start), text);
    }

    private LauncherEntry ofThree(int node) {
        return entry(node, 2, 3, "1", "", "");
    }

    private LauncherEntry entry(int node) {
        return entry(node, 2, "1");
    }

    @Test
    void anEntryOfAnotherVersionWithMissingFieldsDiffersInItsVersion() {
        String fields =
                "{\"node\":1,\"host\":\"h1\",\"address\":\"127.0.0.1\",\"ranks\":1,\"nodes\":2,\"version\":\"0\"}";
        LauncherEntry older = StoreKeys.decoded(fields.getBytes(StandardCharsets.UTF_8), LauncherEntry.class);
        LauncherEntry own = entry(0, 1, "1");
        assertHas(own.difference(older).orElseThrow(), "the version of ferro differs: 1 on node 0");
        assertHas(older.difference(own).orElseThrow(), "the version of ferro differs: 0 on node 1");
    }

    private LauncherEntry entry(int node, int ranks, String version, String... debug) {
        return entry(node, ranks, 2, version, String.join("", debug), "");
    }

    /** Returns the launchers of two nodes, which have met. */
    private List<LauncherConnections> both(Duration silence, Duration ending) throws Exception {
        WaitTimeouts times = new WaitTimeouts(LONG, silence, ending);
        CompletableFuture<LauncherConnections> zero = meeting(entry(0), times);
        CompletableFuture<LauncherConnections> one = meeting(entry(1), times);
        List<LauncherConnections> met = List.of(result(zero), result(one));
        open.addAll(0, met);
        return met;
    }

    private static String shown(LauncherConnections.GatheredReports all) {
        return all.reports() + " " + all.lost();
    }

    private static String refusal(CompletableFuture<LauncherConnections> meeting) {
        ExecutionException failed = assertThrows(ExecutionException.class, () -> result(meeting));
        assertTrue(failed.getCause() instanceof JobStartException, () -> "" + failed.getCause());
        return failed.getCause().getMessage();
    }

    private CompletableFuture<LauncherConnections> meeting(LauncherEntry entry, WaitTimeouts times) {
        LauncherClient connection = connected(entry);
        return OnThread.start(() -> LauncherConnections.meet(connection, entry, times, missing -> {}, ONLY));
    }

    private void serveAnew() throws Exception {
        server.close();
        serve();
    }
}
