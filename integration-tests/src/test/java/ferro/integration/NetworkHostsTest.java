package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What stands between two hosts: a firewall with a few open ports, IPv6 alone, a cut. */
@Tag("long")
@Timeout(180)
class NetworkHostsTest {
    private static final int STORE = 29500;
    private static final String RANGE = "20000-20001";

    @TempDir
    private Path folder;

    @Test
    @DisplayName("row 46: behind a firewall ranks meet by the open ports, and else say what was tried")
    void ranksBehindAFirewallJoinByOpenPortsElseListTheAttempts() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            for (int host = 0; host < 2; host++) {
                letThrough(hosts, host, RANGE, "" + STORE);
            }
            // whose time is over first says what it saw: the node that dials, then the one that is dialled
            assertFails(
                    start(hosts, secret, joinTimeouts("15s", "60s")),
                    "on node 1 (host host-b, 10.77.0.2) announced 10.77.0.2:",
                    "; connect: no answer in ",
                    " s: does a firewall block the connection? (attempts: ",
                    "(ferro.tcp.interface, ferro.tcp.advertise)");
            assertFails(
                    start(hosts, secret, joinTimeouts("60s", "15s")),
                    "no connection from there has reached this rank at 10.77.0.2:");

            HostProcess.assertEnd(0, start(hosts, secret, "-J-Dferro.tcp.port=" + RANGE));
        }
    }

    @Test
    @DisplayName("row 7, row 41, row 46: ranks whose hosts are cut apart blame the other host")
    void ranksJoinOverIpv6AloneAndACutBlamesTheOtherHost() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV6)) {
            List<HostProcess> running = start(
                    hosts,
                    secret,
                    "-J-Dferro.heartbeat.interval=200ms",
                    "-J-Dferro.heartbeat.suspect=500ms",
                    "-J-Dferro.heartbeat.limit=2s",
                    "wait");
            for (int rank = 0; rank < 4; rank++) {
                assertEquals("", running.get(rank / 2).restOfLine("[" + rank + "] joined"));
            }
            hosts.cut(1);
            HostProcess.assertEnd(1, running);
            assertSays(
                    running.get(0),
                    "PARTITION",
                    "node 1 (host host-b, fd77:0:0:0:0:0:0:2): none of its ranks 2, 3 answers: the network is cut",
                    "rank 0 is reached at [fd77:0:0:0:0:0:0:1]:",
                    ", by wire");
            assertSays(
                    running.get(1),
                    "node 0 (host host-a, fd77:0:0:0:0:0:0:1): none of its ranks 0, 1 answers: the network is cut");
        }
    }

    private static List<HostProcess> start(NamespaceHosts hosts, Path secret, String... options) throws Exception {
        return start(hosts, secret, List.of(List.of(options), List.of(options)));
    }

    private static List<List<String>> joinTimeouts(String... ofHosts) {
        return Arrays.stream(ofHosts)
                .map(time -> List.of("-J-Dferro.join.timeout=" + time))
                .toList();
    }

    /** Starts the launchers of two hosts; an option that is no flag is given to the program. */
    private static List<HostProcess> start(NamespaceHosts hosts, Path secret, List<List<String>> options)
            throws Exception {
        List<HostProcess> running = new ArrayList<>();
        for (int host = 0; host < 2; host++) {
            String line = "run --nodes 2 --node-rank " + host + " --master " + hosts.endpoint(0, STORE)
                    + " --secret-file " + secret + " -n 2 --backend tcp";
            List<String> words = new ArrayList<>(List.of(line.split(" ")));
            Map<Boolean, List<String>> flags =
                    options.get(host).stream().collect(Collectors.partitioningBy(option -> option.startsWith("-")));
            words.addAll(flags.get(true));
            words.add(WaitsAcrossHosts.class.getName());
            words.addAll(flags.get(false));
            running.add(hosts.ferro(host, words.toArray(String[]::new)));
        }
        return running;
    }

    /** A firewall that knows ports only: what is from or to others, by TCP and from outside, is dropped. */
    private static void letThrough(NamespaceHosts hosts, int host, String... ports) throws Exception {
        int place = 1;
        for (String open : ports) {
            for (String end : List.of("dport", "sport")) {
                hosts.run(
                        host,
                        "ip rule add pref " + place++ + " iif wire ipproto tcp " + end + " " + open + " lookup local");
            }
        }
        hosts.run(host, "ip rule add pref " + place++ + " iif wire ipproto tcp blackhole");
        hosts.run(host, "ip rule add pref " + place + " lookup local");
        hosts.run(host, "ip rule del pref 0");
    }

    private static void assertFails(List<HostProcess> ended, String... parts) throws Exception {
        for (HostProcess one : ended) {
            assertEquals(1, one.exitCode(), one::toString);
            assertSays(one, parts);
        }
    }

    /** However the box breaks its lines. */
    private static void assertSays(HostProcess one, String... parts) {
        String text = one.errText().replaceAll("\\R\\| +", " ");
        for (String part : parts) {
            assertTrue(text.contains(part), () -> "need: " + part + "\n" + one);
        }
    }
}
