package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.store.PeerHost;
import ferro.backend.tcp.store.Roster;
import ferro.harness.Ports;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What ranks that are started by hand print while they join, and with what text they fail: one text for each state. */
@Timeout(120)
class JoiningTextsTest {
    private static final String LONG = "60s";
    private static final Map<String, String> HASTY = Map.of("FERRO_JOIN_TIMEOUT", "2s");
    /** The time that a process ran and waited for a core. */
    private static final String OWN_TIME =
            "this process has used [0-9.]+ s of processor time in the [0-9.]+ s since its"
                    + " start(, and a thread of it has waited [0-9.]+ s for a core)?";

    private final List<JoiningRank> started = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void end() {
        started.forEach(JoiningRank::close);
    }

    private JoiningRank start(int rank, int worldSize, int port, Map<String, String> more) throws Exception {
        JoiningRank made = JoiningRank.start(List.of(), variables(rank, worldSize, port, more));
        started.add(made);
        return made;
    }

    private static Map<String, String> variables(int rank, int worldSize, int port, Map<String, String> more) {
        Map<String, String> variables = new HashMap<>(Map.of(
                "RANK", "" + rank,
                "WORLD_SIZE", "" + worldSize,
                "MASTER_ADDR", "127.0.0.1",
                "MASTER_PORT", "" + port,
                "FERRO_JOIN_TIMEOUT", LONG));
        variables.putAll(more);
        return variables;
    }

    @Test
    @Tag("long")
    void theFirstLineAfterThreeSecondsNamesWhatTheRankWaitsFor() throws Exception {
        int nobody = Ports.free();
        int served = Ports.free();
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                TcpStoreServer store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 2, null);
                CutStore cut = new CutStore(store.port(), "world/rank/1")) {
            // before any rank starts: none of them may find the store without it
            announce(store.port(), nobody);
            JoiningRank unserved = start(1, 2, nobody, Map.of());
            JoiningRank unanswered = start(1, 2, silent.getLocalPort(), Map.of());
            JoiningRank alone = start(0, 2, served, Map.of());
            JoiningRank unresolved = start(1, 2, nobody, Map.of("MASTER_ADDR", "nowhere.invalid"));
            JoiningRank fileless = start(1, 2, 0, inFile());
            JoiningRank unheard = start(1, 2, cut.port(), Map.of("FERRO_STORE_SERVED", "1"));
            JoiningRank unconnected = start(0, 2, store.port(), Map.of("FERRO_STORE_SERVED", "1"));

            assertFirst(
                    unserved,
                    "waiting for ranks \\[0] of 2: the store at 127.0.0.1:" + nobody
                            + " that rank 0 serves: refused: nothing listens there \\(attempts:"
                            + " \\d+\\)");
            assertFirst(
                    unanswered,
                    "waiting for ranks \\[0] of 2: the store at 127.0.0.1:" + silent.getLocalPort()
                            + " that rank 0 serves: (no answer in|connected, ).*");
            assertFirst(alone, "waiting for ranks \\[1] of 2");
            assertFirst(unresolved, "waiting for an address of \"nowhere.invalid\", the host of the store");
            assertFirst(fileless, "waiting for ranks \\[0] of 2: rank 0 has written no job file " + folder + "/job");
            assertFirst(
                    unconnected,
                    "waiting for ranks \\[1] of 2: rank 1 on .* announced 127.0.0.1:" + nobody
                            + "; connect: refused: nothing listens there \\(attempts: \\d+\\)");
            assertFirst(unheard, "rank 1 of \"world\" is connected to the store and waits for its answer: " + OWN_TIME);
            started.forEach(JoiningTextsTest::assertTrueLines);
        }
    }

    /**
     * Waits for a line, which is the first one unless this machine is so busy that after three seconds the rank itself
     * is late, or the store, which this test serves.
     */
    private static void assertFirst(JoiningRank rank, String text) throws Exception {
        rank.awaitLine(text);
        rank.assertFirstLine("(" + text + "|rank \\d of \"world\" is still starting.*"
                + "|rank \\d of \"world\" is connected to the store and waits for its answer: .*"
                + "|waiting for (ranks .*: )?the store at .*(, which this rank has not called yet: .*"
                + "|: (no answer in 0\\.\\d s|connected, .*) \\(attempts: 1\\)))");
    }

    private Map<String, String> inFile() {
        return Map.of("MASTER_ADDR", "", "MASTER_PORT", "", "FERRO_JOB_DIR", "" + folder, "FERRO_JOB_ID", "job");
    }

    /** Publishes the entry of a rank 1 that listens nowhere. */
    private void announce(int storePort, int nobody) throws Exception {
        Roster.RankEntry entry = new Roster.RankEntry("127.0.0.1", nobody, 1, 1, PeerHost.UNKNOWN, "");
        JoiningRank.set(storePort, "world/1/card/1", entry.text().getBytes(StandardCharsets.UTF_8));
    }

    /** No line is empty, waits for nobody, or asks about a firewall within this machine. */
    private static void assertTrueLines(JoiningRank rank) {
        for (String line : rank.outLines()) {
            assertFalse(line.trim().endsWith("ferro.join:"), rank::toString);
            assertFalse(line.contains("ranks [] of"), rank::toString);
            assertFalse(line.contains("firewall"), rank::toString);
        }
    }

    @Test
    @Tag("long")
    void aRestartedRankNamesTheProcessThatHoldsItsSlot() throws Exception {
        int port = Ports.free();
        start(0, 3, port, Map.of());
        JoiningRank first = start(1, 3, port, Map.of());
        first.awaitLine("waiting for ranks \\[2] of 3");
        first.close();

        start(1, 3, port, Map.of())
                .awaitLine(
                        "rank 1 is still held by process " + first.pid() + " at 127.0.0.1:\\d+, whose job still runs");

        started.forEach(JoiningTextsTest::assertTrueLines);
    }

    @Test
    @Tag("long")
    void withoutAnAnswerTheMissingRankIsNamedAndNoFirewall() throws Exception {
        int nobody = Ports.free();
        int served = Ports.free();
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                TcpStoreServer store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 2, null);
                CutStore cut = new CutStore(store.port(), "world/rank/1")) {
            JoiningRank unserved = start(1, 2, nobody, HASTY);
            JoiningRank unanswered = start(1, 2, silent.getLocalPort(), HASTY);
            JoiningRank alone = start(0, 2, served, HASTY);
            Map<String, String> isServed = Map.of("FERRO_STORE_SERVED", "1", "FERRO_JOIN_TIMEOUT", "4s");
            JoiningRank unheard = start(1, 2, cut.port(), isServed);

            inTime(unserved, 1, nobody, Map.of())
                    .awaitFailure(
                            "rank 0 is missing, cannot connect to the store at 127.0.0.1:" + nobody
                                    + " that rank 0 serves within \\d+ ms \\(\\d+ attempts?, last: refused: nothing"
                                    + " listens there\\).*check whether it runs, and whether MASTER_ADDR and"
                                    + " MASTER_PORT are the same everywhere.*",
                            0);
            inTime(unanswered, 1, silent.getLocalPort(), Map.of())
                    .awaitFailure(
                            "rank 0 does not answer, .*check whether its process is stopped or has no free core.*", 0);
            inTime(alone, 0, served, Map.of())
                    .awaitFailure("missing: \\[1] of 2, which did not join within \\d+ ms; check that they run.*", 1);
            inTime(unheard, 1, cut.port(), isServed)
                    .awaitFailure(
                            "the store is connected and has not answered \\(.* was not answered .*\\): is the process that"
                                    + " serves it stopped or without a free core\\? " + OWN_TIME
                                    + "|the rank was connected to the store too late for its answer");
            started.forEach(JoiningTextsTest::assertTrueLines);
        }
    }

    /** Returns a rank that had time: this one, or the same rank with more time if this machine is so busy that it was late. */
    private JoiningRank inTime(JoiningRank first, int rank, int port, Map<String, String> more) throws Exception {
        JoiningRank last = first;
        for (String time : List.of("8s", "30s")) {
            if (!last.isLate()) {
                return last;
            }
            Map<String, String> settings = new HashMap<>(more);
            settings.put("FERRO_JOIN_TIMEOUT", time);
            last = start(rank, 2, port, settings);
        }
        return last;
    }

    @Test
    @Tag("long")
    void aSlowRankZeroReportsItselfAndBlamesNoOther() throws Exception {
        JoiningRank slow = start(0, 2, Ports.free(), Map.of("FERRO_JOIN_TIMEOUT", "4s"));

        slow.isStoppedWhileItStarts(
                "rank 0 of \"world\" is still starting(| the store at 127.0.0.1:\\d+, which it serves): " + OWN_TIME,
                Duration.ofSeconds(4));

        slow.awaitFailure("(the rank has not started the store at 127.0.0.1:\\d+, which it serves"
                + "|the rank cannot connect to the store at 127.0.0.1:\\d+, which it serves: .*"
                + "|the rank needed \\d+ ms to start and waited only \\d+ ms for ranks \\[1] of 2); " + OWN_TIME
                + "(: give the rank a free core, or joining more time)?.*");
        assertTrueLines(slow);
        assertFalse(slow.toString().contains("rank 0 is missing"), slow::toString);
    }

    @Test
    @Tag("long")
    void aRankThatCallsTheStoreTooLateDoesNotBlameRankZero() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            JoiningRank slow = start(1, 2, silent.getLocalPort(), Map.of("FERRO_JOIN_TIMEOUT", "4s"));

            slow.isStoppedWhileItStarts(
                    "(rank 1 of \"world\" is still starting: " + OWN_TIME
                            + "|waiting for ranks \\[0] of 2: the store.*)",
                    Duration.ofSeconds(4));

            slow.awaitFailure("the rank has (not called the store at 127.0.0.1:\\d+ that rank 0 serves yet"
                    + "|called the store at 127.0.0.1:\\d+ that rank 0 serves only \\d+ ms before its timeout); "
                    + OWN_TIME + ": give the rank a free core, or joining more time.*");
            assertTrueLines(slow);
        }
    }

    @Test
    void aDisabledLoopbackIsReportedAtTheFirstAttempt() throws Exception {
        List<String> apart = List.of("unshare", "-n");
        assumeTrue(JoiningRank.canRun(apart), "no namespaces of the network here");
        JoiningRank rank = JoiningRank.start(apart, variables(1, 2, Ports.free(), Map.of("FERRO_JOIN_TIMEOUT", "5s")));
        started.add(rank);

        rank.await(Pattern.compile("WARNING ferro.join: rank 1 of \"world\" cannot connect to the store at"
                + " 127.0.0.1:\\d+ that rank 0 serves: the loopback interface of this machine is down"
                + " \\(ip link set lo up starts it\\)"));
        rank.awaitFailure("cannot connect to the store .*the loopback interface of this machine is down.*");
    }

    @Test
    void aMissingSecretIsReportedByOneText() throws Exception {
        Path gone = folder.resolve("gone");
        String text =
                "FERRO_SECRET_FILE: " + gone + " does not exist: ferro secret FILE creates one; ferro run deletes a"
                        + " secret that it generated once all ranks have joined, so a program that joins again needs"
                        + " --secret-file FILE";
        for (String served : List.of("0", "1")) {
            Map<String, String> secured = Map.of("FERRO_SECRET_FILE", gone.toString(), "FERRO_STORE_SERVED", served);
            start(1, 2, Ports.free(), secured).await(Pattern.compile(".*UNAUTHENTICATED: " + Pattern.quote(text)));
        }
    }
}
