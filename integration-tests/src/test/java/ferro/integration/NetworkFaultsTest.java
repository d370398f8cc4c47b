package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.integration.drill.Cell;
import ferro.integration.drill.Drill;
import ferro.integration.drill.DrillFault;
import ferro.integration.drill.Line;
import ferro.integration.drill.Measured;
import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Networks between two hosts that break for a while, or in one direction, under a job of four ranks that goes on adding up; with and
 * without TLS. The hosts of each test have a network of their own, so that tests run beside each other; where times are measured,
 * one after the other.
 */
@Tag("long")
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class NetworkFaultsTest {
    /** What comes on top of all that is promised where other tests and builds hold the cores, and TCP tries again later. */
    private static final Duration SLACK = Duration.ofSeconds(Drill.whole() ? 0 : 20);
    /** Of the heartbeats; far below what launchers wait for a sign of each other. */
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private static final Duration NODE_TIMEOUT = Duration.ofSeconds(20);
    private static final String NODES = "--node-timeout " + NODE_TIMEOUT.toSeconds() + "s";
    private static final Duration BEAT = Duration.ofMillis(500);
    private static final String HASTY = "-J-Dferro.heartbeat.interval=" + BEAT.toMillis()
            + "ms -J-Dferro.heartbeat.suspect=2s -J-Dferro.heartbeat.limit=" + LIMIT.toSeconds() + "s " + NODES;
    /** From the end of that to the end of a launcher. */
    private static final Duration ENDING = Duration.ofSeconds(5);

    /**
     * BBR, the default of some systems, paces what it sends: after a time in which nothing came through it may wait
     * for as long again as TCP's backoff, with an open window and all of it known as lost.
     */
    private static final String SENDS_AS_THE_WINDOW_ALLOWS = "-J-Dferro.tcp.congestion=reno";

    private static final List<Integer> HERE = List.of(0, 1);
    private static final List<Integer> THERE = List.of(2, 3);
    private static final List<Integer> ALL = List.of(0, 1, 2, 3);

    /** What breaks a network for a while, and the next sum after it, or the slowest one, tells of. */
    private static final List<Outage> OUTAGES = List.of(
            new Outage(DrillFault.CUT, 2000, one -> one.cut(1), one -> one.mend(1)),
            new Outage(
                    DrillFault.LINK_DOWN,
                    1500,
                    one -> one.run(1, "ip link set wire down"),
                    one -> one.run(1, "ip link set wire up")),
            losing(DrillFault.LOSS_OF_1, "numgen random mod 100 < 1 "),
            losing(DrillFault.LOSS_OF_5, "numgen random mod 100 < 5 "),
            // a smaller path than both ends believe, of which nobody tells them
            losing(DrillFault.LONG_LOST, "ip length > 1000 "),
            // the last: where packets took long, TCP waits longer before it sends one again
            new Outage(
                    DrillFault.SLOW_WIRE,
                    1500,
                    one -> one.run(0, "tc qdisc add dev wire root tbf rate 1mbit burst 10kb latency 400ms"),
                    one -> one.run(0, "tc qdisc del dev wire root")));

    @TempDir
    private Path folder;

    private interface NetworkChange {
        void on(NamespaceHosts hosts) throws Exception;
    }

    private record Outage(DrillFault fault, long millis, NetworkChange begin, NetworkChange end) {
        boolean isOfSomePackets() {
            return fault == DrillFault.LOSS_OF_1 || fault == DrillFault.LOSS_OF_5;
        }
    }

    /** One time that something is tried. */
    private record Round(Links medium, int number) {
        /** Launchers wait long for each other before they end, which is looked at once. */
        boolean isFirst() {
            return number == 1;
        }

        Cell cell(DrillFault fault) {
            return Cell.of(fault).over(medium).inRound(number);
        }
    }

    @BeforeAll
    static void begin() throws IOException {
        Measured.begin(NetworkFaultsTest.class);
    }

    static Stream<Round> rounds() {
        return IntStream.rangeClosed(1, Drill.roundsUpTo(DrillFault.BROKEN_NETWORKS))
                .boxed()
                .flatMap(number -> Stream.of(new Round(Links.TLS, number), new Round(Links.TCP, number)));
    }

    /** What has another figure with TLS, but no other way. */
    static Stream<Round> roundsWithTlsOrMeasured() {
        return rounds().filter(round -> Drill.whole() || round.medium == Links.TLS);
    }

    @ParameterizedTest
    @MethodSource("rounds")
    @DisplayName(
            "row 9, row 10, row 11: a job survives blips, a link that is down and up, losses and a slow wire, with right sums")
    void aTemporaryNetworkFaultFailsNoRank(Round round) throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeFirewall(hosts);
            // where that cannot be had, whole sums are lost in place of packets
            hosts.splitPackets();
            // before Linux 6.15 faults that follow one another stretch TCP's backoff, also that of launchers' beats
            String options = "--node-timeout 30s " + SENDS_AS_THE_WINDOW_ALLOWS;
            SumsJob job = SumsJob.start(hosts, folder, round.medium, options, 0);
            job.awaitSums();

            for (Outage outage : OUTAGES) {
                long begun = System.nanoTime();
                outage.begin.on(hosts);
                // what happens to a network takes its time: nothing else can be waited for
                Thread.sleep(outage.millis);
                long healed = System.nanoTime();
                outage.end.on(hosts);
                Line next = job.sumAfter(healed);
                Cell cell = round.cell(outage.fault);
                if (outage.isOfSomePackets()) {
                    assertInTime(cell, job.slowest(begun, next));
                } else {
                    assertInTime(cell, next.number("at") - healed);
                }
            }

            job.end();
        }
    }

    @ParameterizedTest
    @MethodSource("rounds")
    @DisplayName(
            "row 11: with net.ipv4.tcp_mtu_probing=1 a job goes on where the path is smaller than both ends believe, for good")
    void aReducedPathMtuIsFoundByProbing(Round round) throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeFirewall(hosts);
            assumeTrue(hosts.splitPackets(), "needs ip that sets gso_max_segs (iproute2 6.0), found none");
            for (int host = 0; host < 2; host++) {
                hosts.set(host, "net/ipv4/tcp_mtu_probing", 1);
            }
            SumsJob job = SumsJob.start(hosts, folder, round.medium, NODES, 0);
            job.awaitSums();

            long begun = System.nanoTime();
            lose(hosts, "ip length > 1200 ");
            Thread.sleep(1000);

            long slowest = job.slowest(begun, job.sumAfter(System.nanoTime()));
            assertTrue(slowest > 500_000_000, () -> "no sum was longer on its way than " + slowest + " ns\n" + job);
            assertInTime(round.cell(DrillFault.SMALLER_PATH), slowest);
            job.end();
        }
    }

    @ParameterizedTest
    @MethodSource("rounds")
    @DisplayName(
            "row 7, row 8: what one host says is lost without a word, and all ranks fail by the limit of heartbeats")
    void silenceInOneDirectionEndsAllRanksByTheLimit(Round round) throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeFirewall(hosts);
            SumsJob job = SumsJob.start(hosts, folder, round.medium, HASTY, 0);
            job.awaitSums();

            long at = System.nanoTime();
            firewall(hosts, 0, "ip saddr " + hosts.address(1) + " drop");

            // TCP soon sends nothing new to a host whose receipts are lost; the host has received what was sent before
            Measured measured = failures(round.cell(DrillFault.SILENT).of(0, 1, 2, 3), job, ALL, at);
            assertBlamed(measured, "PARTITION", HERE, THERE);
            boolean told = measured.failed().get(2).culprits().equals(THERE);
            assertBlamed(measured, "PARTITION", THERE, told ? THERE : HERE);
            if (round.isFirst()) {
                for (HostProcess one : job.launchers()) {
                    assertEndsWithOne(one);
                    one.assertErr("agree: PARTITION");
                }
                assertTrue(job.launchers().get(0).errText().contains("host-b"), job::toString);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("roundsWithTlsOrMeasured")
    @DisplayName("row 7: a host that is gone without a word ends the ranks of the other by the limit of heartbeats")
    void aVanishedHostFailsTheOthersByTheHeartbeatLimit(Round round) throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            SumsJob job = SumsJob.start(hosts, folder, round.medium, HASTY, 0);
            job.awaitSums();

            long at = System.nanoTime();
            hosts.run(1, "ip link set wire down");
            hosts.start(1, "sh", "-c", "kill -9 -1").exitCode();

            Measured measured = failures(round.cell(DrillFault.GONE).of(2, 3), job, HERE, at);
            assertBlamed(measured, "PARTITION", HERE, THERE);
            if (round.isFirst()) {
                HostProcess left = job.launchers().get(0);
                assertEndsWithOne(left);
                left.assertErr("host-b");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("roundsWithTlsOrMeasured")
    @DisplayName("row 12: connections of ranks that are all reset between two hosts end all ranks at once")
    void connectionsThatAreResetBetweenTwoHostsEndAllRanksAtOnce(Round round) throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeFirewall(hosts);
            SumsJob job = SumsJob.start(hosts, folder, round.medium, NODES, 0);
            job.awaitSums();

            // ss ends one after the other: no word of the first must get to the other host by those that are left
            for (int host = 0; host < 2; host++) {
                firewall(hosts, host, "ip saddr " + hosts.address(1 - host) + " tcp flags & rst != rst drop");
            }
            long at = System.nanoTime();
            assumeTrue(hosts.succeeds(0, reset(hosts.address(1))), "needs ss that ends connections");
            // TCP ignores a reset that comes after lost bytes: the other host would get the reset when it sends again
            hosts.succeeds(1, reset(hosts.address(0)));
            for (int host = 0; host < 2; host++) {
                hosts.run(host, "nft flush chain inet faults in");
            }

            Measured measured = failures(round.cell(DrillFault.RESET).of(0, 1, 2, 3), job, ALL, at);
            assertBlamedAmong(measured, "PEER_LOST", notEnded(measured, HERE), THERE);
            assertBlamedAmong(measured, "PEER_LOST", notEnded(measured, THERE), HERE);
            assertFalse(notEnded(measured, ALL).isEmpty(), job::toString);
            for (HostProcess one : job.launchers()) {
                assertEndsWithOne(one);
            }
        }
    }

    /**
     * Resets all connections of ranks with a host. That of the launchers stays: on a busy machine they would end ranks that
     * have not read of their own reset.
     */
    private static String reset(String host) {
        return "ss -K dst " + host + " and sport != :" + SumsJob.STORE + " and dport != :" + SumsJob.STORE;
    }

    @Test
    @DisplayName(
            "row 9: a firewall that forgets idle connections after 10 s forgets none whose signs of life come every second")
    void heartbeatsKeepIdleConnectionsOpenInAFirewall() throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeFirewall(hosts);
            firewall(hosts, 0, "ct state invalid drop");
            hosts.set(0, "net/netfilter/nf_conntrack_tcp_loose", 0);
            for (int host = 0; host < 2; host++) {
                hosts.set(host, "net/ipv4/tcp_keepalive_time", 1);
                hosts.set(host, "net/ipv4/tcp_keepalive_intvl", 1);
            }
            // with epoll the signs come every 60 s; here the system's time counts
            SumsJob job = SumsJob.start(hosts, folder, Links.TLS, "-J-Dferro.tcp.io=nio", 13000);
            // the launchers' connections have epoll: idle until all have met, then with heartbeats
            for (HostProcess one : job.launchers()) {
                one.errLine(" = pid ");
            }
            hosts.set(0, "net/netfilter/nf_conntrack_tcp_timeout_established", 10);
            job.awaitSums();

            job.end();
        }
    }

    @Test
    @DisplayName("row 41: a cut 5 s below --node-timeout loses no node, though TCP's backoff has grown beyond it")
    void aCutShorterThanTheNodeTimeoutLosesNoNode() throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeTrue(
                    hosts.succeeds(0, "test -e /proc/sys/net/ipv4/tcp_rto_max_ms"),
                    "needs Linux 6.15, where the backoff of a connection can be limited");
            assumeFirewall(hosts);
            // without a limit TCP tries again 6.2 and 12.6 s after the cut, and a node counts as lost after 10 s
            SumsJob job = SumsJob.start(hosts, folder, Links.TLS, "--node-timeout 13s", 11000);
            job.awaitSums();

            // not a cut wire: its unanswered neighbour requests would make TCP try again sooner
            lose(hosts, "");
            Thread.sleep(7000);
            loseNothing(hosts);

            job.end();
        }
    }

    /** What took so long is written down; it must have been in time. */
    private static void assertInTime(Cell cell, long nanos) throws IOException {
        Measured measured = Measured.nothing(cell);
        measured.add(0, Line.of("sum").with("at", nanos), 0);
        measured.write(NetworkFaultsTest.class).checkTimes(cell.promisedMillis() + SLACK.toMillis());
    }

    private static Measured failures(Cell cell, SumsJob job, List<Integer> ranks, long at)
            throws IOException, InterruptedException {
        Measured measured = Measured.nothing(cell);
        for (int rank : ranks) {
            measured.add(rank, job.failure(rank), at);
        }
        measured.write(NetworkFaultsTest.class).checkTimes(cell.promisedMillis() + SLACK.toMillis());
        job.assertLinesHelp();
        return measured;
    }

    private static void assertBlamed(Measured measured, String code, List<Integer> by, List<Integer> blamed) {
        assertBlamedAmong(measured, code, by, blamed);
        for (int rank : by) {
            Line said = measured.failed().get(rank);
            assertEquals(blamed, said.culprits(), () -> "rank " + rank + ": " + said);
        }
    }

    /** The same where connections end one by one: those that end late blame nobody. */
    private static void assertBlamedAmong(Measured measured, String code, List<Integer> by, List<Integer> blamed) {
        for (int rank : by) {
            Line said = measured.failed().get(rank);
            assertEquals(code, said.value("code"), () -> "rank " + rank + ": " + said);
            assertFalse(said.culprits().isEmpty(), () -> "rank " + rank + ": " + said);
            assertTrue(blamed.containsAll(said.culprits()), () -> "rank " + rank + ": " + said);
        }
    }

    /** Returns the ranks that knew the cause before their launcher ended them, which it may do first on a busy machine. */
    private static List<Integer> notEnded(Measured measured, List<Integer> ranks) {
        return ranks.stream()
                .filter(rank -> Drill.whole()
                        || !measured.failed().get(rank).toString().contains("was ended by shutdown (SIGTERM)"))
                .toList();
    }

    private static void assertEndsWithOne(HostProcess launcher) throws InterruptedException {
        assertEquals(1, launcher.exitCode(NODE_TIMEOUT.plus(ENDING).plus(SLACK)), launcher::toString);
    }

    private static Outage losing(DrillFault fault, String which) {
        return new Outage(fault, 1500, one -> lose(one, which), NetworkFaultsTest::loseNothing);
    }

    private static void lose(NamespaceHosts hosts, String which) throws Exception {
        for (int host = 0; host < 2; host++) {
            firewall(hosts, host, "iifname wire " + which + "drop");
        }
    }

    private static void loseNothing(NamespaceHosts hosts) throws Exception {
        for (int host = 0; host < 2; host++) {
            hosts.run(host, "nft flush chain inet faults in");
        }
    }

    private static void firewall(NamespaceHosts hosts, int host, String rule) throws Exception {
        hosts.run(host, "nft add rule inet faults in " + rule);
    }

    /** Has both hosts know rules for what comes in, of which there are none yet; skips the test where that is not possible. */
    private static void assumeFirewall(NamespaceHosts hosts) throws Exception {
        for (int host = 0; host < 2; host++) {
            assumeTrue(hosts.succeeds(host, "nft add table inet faults"), "needs nft (package nftables)");
            hosts.run(host, "nft add chain inet faults in { type filter hook input priority 0 ; }");
        }
    }
}
