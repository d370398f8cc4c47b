package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Networks between two hosts that break for a while, or in one direction, under a job of four ranks that goes on adding up; with and
 * without TLS.
 */
@Tag("long")
@Timeout(180)
class NetworkFaultsTest {
    private static final int STORE = 29500;
    /** The drill has a machine for itself and asserts what is promised; otherwise other builds may hold the cores. */
    private static final boolean DRILLS = System.getProperty("drill.rounds") != null;
    /** TCP's backoff doubles from what the fault took. */
    private static final Duration RECOVERY = Duration.ofSeconds(DRILLS ? 3 : 20);
    /** Of the heartbeats; far below what launchers wait for a sign of each other. */
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private static final Duration NODE_TIMEOUT = Duration.ofSeconds(20);
    private static final String HASTY =
            " -J-Dferro.heartbeat.interval=500ms -J-Dferro.heartbeat.suspect=2s -J-Dferro.heartbeat.limit="
                    + LIMIT.toSeconds() + "s --node-timeout " + NODE_TIMEOUT.toSeconds() + "s";
    /** From the end of that to the end of a launcher. */
    private static final Duration ENDING = Duration.ofSeconds(DRILLS ? 5 : 20);

    @TempDir
    private Path folder;

    /** What breaks the network, and what heals it. */
    private interface NetworkFault {
        void change(NamespaceHosts hosts) throws Exception;
    }

    @ParameterizedTest(name = "tls {0}")
    @ValueSource(strings = {"auto", "off"})
    @DisplayName(
            "row 9, row 10, row 11: a job survives blips, a link that is down and up, losses and a slow wire, with right sums")
    void aNetworkThatHealsHarmsNobody(String tls) throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeFirewall(hosts);
            // before Linux 6.15 faults that follow one another stretch TCP's backoff, also that of launchers' beats
            List<HostProcess> job = start(hosts, tls, " --node-timeout 30s");
            awaitSums(job);

            // row 10
            breakFor(2000, hosts, one -> one.cut(1), one -> one.mend(1));
            assertRecovers(job, "a cut of 2 s");
            // row 9
            breakFor(1500, hosts, one -> one.run(1, "ip link set wire down"), one -> one.run(1, "ip link set wire up"));
            assertRecovers(job, "a link that was down for 1.5 s");
            // row 11
            for (int percent : new int[] {1, 5}) {
                String some = "numgen random mod 100 < " + percent + " ";
                breakFor(1500, hosts, one -> lose(one, some), NetworkFaultsTest::loseNothing);
                assertRecovers(job, "losses of " + percent + " %");
            }
            breakFor(
                    1500,
                    hosts,
                    one -> one.run(0, "tc qdisc add dev wire root tbf rate 1mbit burst 10kb latency 400ms"),
                    one -> one.run(0, "tc qdisc del dev wire root"));
            assertRecovers(job, "a wire of 1 Mbit/s");
            // a smaller path than both ends believe, of which nobody tells them
            breakFor(1500, hosts, one -> lose(one, "ip length > 1000 "), NetworkFaultsTest::loseNothing);
            assertRecovers(job, "a path that loses what is above 1,000 bytes");

            Files.createFile(end());
            for (HostProcess one : job) {
                assertEquals(0, one.exitCode(), one::toString);
            }
            assertTrue(
                    job.get(0).outLines().stream().anyMatch(line -> line.startsWith("[0] done: ")),
                    job.get(0)::toString);
        }
    }

    @ParameterizedTest(name = "tls {0}")
    @ValueSource(strings = {"auto", "off"})
    @DisplayName(
            "row 7, row 8: what one host says is lost without a word, and all ranks fail by the limit of heartbeats")
    void silenceInOneDirectionEndsAllRanksByTheLimit(String tls) throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeFirewall(hosts);
            List<HostProcess> job = start(hosts, tls, HASTY);
            awaitSums(job);

            firewall(hosts, 0, "ip saddr " + hosts.address(1) + " drop");
            assertFails(job.get(0), "PARTITION", LIMIT);

            for (HostProcess one : job) {
                assertEquals(1, one.exitCode(NODE_TIMEOUT.plus(ENDING)), one::toString);
                assertTrue(one.errText().contains("agree: PARTITION"), one::toString);
            }
            assertTrue(job.get(0).errText().contains("host-b"), job.get(0)::toString);
        }
    }

    @Test
    @DisplayName("row 7: a host that is gone without a word ends the ranks of the other by the limit of heartbeats")
    void aHostThatIsGoneWithoutAWordEndsTheOthersByTheLimit() throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            List<HostProcess> job = start(hosts, "auto", HASTY);
            awaitSums(job);

            hosts.run(1, "ip link set wire down");
            hosts.start(1, "sh", "-c", "kill -9 -1").exitCode();

            HostProcess left = job.get(0);
            assertFails(left, "PARTITION", LIMIT);
            assertEquals(1, left.exitCode(NODE_TIMEOUT.plus(ENDING)), left::toString);
            assertTrue(left.errText().contains("host-b"), left::toString);
        }
    }

    @Test
    @DisplayName("row 12: connections that are all reset between two hosts end all ranks at once")
    void connectionsThatAreResetBetweenTwoHostsEndAllRanksAtOnce() throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            List<HostProcess> job = start(hosts, "auto", " --node-timeout " + NODE_TIMEOUT.toSeconds() + "s");
            awaitSums(job);

            assumeTrue(hosts.succeeds(0, "ss -K dst " + hosts.address(1)), "needs ss that ends connections");

            for (HostProcess one : job) {
                assertFails(one, "PEER_LOST", Duration.ZERO);
                assertEquals(1, one.exitCode(NODE_TIMEOUT.plus(ENDING)), one::toString);
            }
        }
    }

    @Test
    @DisplayName(
            "row 9: a firewall that forgets idle connections after 4 s forgets none whose signs of life come every second")
    void aFirewallForgetsNoIdleConnectionThatGivesSignsOfLife() throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeFirewall(hosts);
            firewall(hosts, 0, "ct state invalid drop");
            hosts.set(0, "net/netfilter/nf_conntrack_tcp_loose", 0);
            hosts.set(0, "net/netfilter/nf_conntrack_tcp_timeout_established", 4);
            for (int host = 0; host < 2; host++) {
                hosts.set(host, "net/ipv4/tcp_keepalive_time", 1);
                hosts.set(host, "net/ipv4/tcp_keepalive_intvl", 1);
            }
            // with epoll the signs come every 60 s; here the system's time counts
            List<HostProcess> job = start(hosts, "auto", " -J-Dferro.tcp.io=nio", "7000");
            awaitSums(job);

            Files.createFile(end());
            for (HostProcess one : job) {
                assertEquals(0, one.exitCode(), job::toString);
            }
        }
    }

    @Test
    @DisplayName("row 41: a cut 5 s below --node-timeout loses no node, though TCP's backoff has grown beyond it")
    void aCutBelowTheTimeOutOfNodesLosesNone() throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            assumeTrue(
                    hosts.succeeds(0, "test -e /proc/sys/net/ipv4/tcp_rto_max_ms"),
                    "needs Linux 6.15, where the backoff of a connection can be limited");
            assumeFirewall(hosts);
            // without a limit TCP tries again 6.2 and 12.6 s after the cut, and a node counts as lost after 10 s
            List<HostProcess> job = start(hosts, "auto", " --node-timeout 13s", "11000");
            awaitSums(job);

            // not a cut wire: its unanswered neighbour requests would make TCP try again sooner
            breakFor(7000, hosts, one -> lose(one, ""), NetworkFaultsTest::loseNothing);

            Files.createFile(end());
            for (HostProcess one : job) {
                assertEquals(0, one.exitCode(), job::toString);
            }
        }
    }

    private Path end() {
        return folder.resolve("end");
    }

    private List<HostProcess> start(NamespaceHosts hosts, String tls, String more) throws Exception {
        return start(hosts, tls, more, "0");
    }

    private List<HostProcess> start(NamespaceHosts hosts, String tls, String more, String rest) throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret-" + tls, "0123456789abcdef0123456789abcdef");
        List<HostProcess> running = new ArrayList<>();
        for (int host = 0; host < 2; host++) {
            String line = "run --nodes 2 --node-rank " + host + " --master " + hosts.endpoint(0, STORE)
                    + " --secret-file " + secret + " -n 2 --backend tcp -J-Dferro.tls=" + tls
                    + more + " " + SumsAcrossHosts.class.getName() + " " + end() + " " + rest;
            running.add(hosts.ferro(host, line.split(" ")));
        }
        return running;
    }

    private static void awaitSums(List<HostProcess> job) throws InterruptedException {
        job.get(0).restOfLine("[0] sums: ");
    }

    /** What happens to a network takes its time: nothing else can be waited for. */
    private static void breakFor(long millis, NamespaceHosts hosts, NetworkFault begin, NetworkFault end)
            throws Exception {
        begin.change(hosts);
        Thread.sleep(millis);
        end.change(hosts);
    }

    /** A rank of a host must fail soon after a time. */
    private static void assertFails(HostProcess launcher, String code, Duration after) throws InterruptedException {
        long begun = System.nanoTime();
        launcher.errLine("FerroException: " + code + ": ");
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertTrue(took.compareTo(after.plus(ENDING)) < 0, () -> "failed after " + took + "\n" + launcher);
    }

    /** Rank 0 must say more sums soon, all of which were checked. */
    private static void assertRecovers(List<HostProcess> job, String after) {
        long healed = System.nanoTime();
        long said = said(job.get(0));
        while (said(job.get(0)) <= said + 1) {
            Duration took = Duration.ofNanos(System.nanoTime() - healed);
            assertTrue(took.compareTo(RECOVERY) < 0, () -> "no sums " + took + " after " + after + "\n" + job);
            LockSupport.parkNanos(10_000_000);
        }
    }

    private static long said(HostProcess launcher) {
        return launcher.outLines().stream()
                .filter(line -> line.startsWith("[0] sums: "))
                .count();
    }

    /** Has both hosts drop some of what comes in. */
    private static void lose(NamespaceHosts hosts, String which) throws Exception {
        for (int host = 0; host < 2; host++) {
            firewall(hosts, host, "iifname wire " + which + "drop");
        }
    }

    private static void loseNothing(NamespaceHosts hosts) throws Exception {
        for (int host = 0; host < 2; host++) {
            hosts.run(host, "nft flush ruleset");
        }
    }

    /** Has a host apply a rule to all that comes in. */
    private static void firewall(NamespaceHosts hosts, int host, String rule) throws Exception {
        hosts.run(host, "nft add table inet faults");
        hosts.run(host, "nft add chain inet faults in { type filter hook input priority 0 ; }");
        hosts.run(host, "nft add rule inet faults in " + rule);
    }

    private static void assumeFirewall(NamespaceHosts hosts) throws Exception {
        assumeTrue(hosts.succeeds(0, "nft list ruleset"), "needs nft (package nftables)");
    }
}
