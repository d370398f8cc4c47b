package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How jobs of two hosts begin and end: every launcher says the same, and ends with the same exit code. */
@Timeout(120)
class NodeFailuresTest {
    private static final int PORT = 29500;
    private static final String NODE_1 = "node 1 (host host-b, 10.77.0.2)";
    private static final String LONGER_THAN_THE_TEST = "sleep 1000";
    /** Where no connection ends: the silence asked for, and what a busy machine takes beside it. */
    private static final Duration SILENCE = Duration.ofSeconds(2);
    /** In seconds; the rest of the silence asked for is left to the ranks. */
    private static final double LEAST_SILENCE = 1.0;

    @TempDir
    private Path folder;

    private NamespaceHosts hosts;
    private Path secret;

    @BeforeEach
    void makeHosts() throws Exception {
        hosts = NamespaceHosts.joined(2, Family.IPV4);
        secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
    }

    @AfterEach
    void endHosts() throws Exception {
        if (hosts != null) {
            hosts.close();
        }
    }

    @Test
    void nodeThatComesLateIsWaitedForAndOtherRanksOnItAreRefusedOnBoth() throws Exception {
        HostProcess first = node(0, secret, "-n2", "--", "true");
        first.errLine("waiting for node 1 of 2: ./ferro run --nodes 2 --node-rank 1 --master 10.77.0.1:29500 -n 2");
        HostProcess other = node(1, secret, "-n3", "--", "true");

        String refusal = "-n differs: 2 on node 0 (host host-a, 10.77.0.1), 3 on " + NODE_1;
        for (HostProcess one : List.of(first, other)) {
            assertEquals(2, one.exitCode(), one::toString);
            assertTrue(one.errText().contains("ferro run: " + refusal), one::toString);
        }
    }

    @Test
    void secretThatDiffersEndsBothNodesWithinTwoSeconds() throws Exception {
        Path wrong = NamespaceHosts.secret(folder, "wrong", "fedcba9876543210fedcba9876543210");
        HostProcess first = node(0, secret, "-n1", "--", "true");
        HostProcess other = node(1, wrong, "-n1", "--", "true");

        assertEquals(2, other.exitCode(), other::toString);
        assertEquals(2, first.exitCode(Duration.ofSeconds(2)), first::toString);
        assertTrue(
                first.errText().contains("the secret of node 1 (10.77.0.2) is not that of node 0 (host host-a"),
                first::toString);
        assertTrue(
                other.errText().contains("the secret of node 1 (host host-b) is not that of node 0 at 10.77.0.1:29500"),
                other::toString);
    }

    @Test
    void loopbackMasterOnNodeOneIsRefusedThereAndTheOtherNodeNamesTheMissingOne() throws Exception {
        Map<String, String> soon = Map.of("FERRO_JOIN_TIMEOUT", "3s");
        HostProcess first = hosts.ferro(0, soon, line(0, hosts.endpoint(0, PORT), secret, "-n1", "--", "true"));
        HostProcess other = hosts.ferro(1, line(1, "127.0.0.1:29500", secret, "-n1", "--", "true"));

        assertEquals(2, other.exitCode(), other::toString);
        assertTrue(other.errText().contains("--master 127.0.0.1:29500 is this host itself"), other::toString);
        assertEquals(1, first.exitCode(), first::toString);
        assertTrue(first.errText().contains("node 1 of 2 did not come before the deadline"), first::toString);
    }

    @Test
    void exitCodeOnOneNodeEndsBothAlsoTheOneWhoseRanksAreDone() throws Exception {
        Path flag = folder.resolve("flag");
        String program = "[ $RANK = 0 ] && exit 0; [ $RANK = 3 ] || exec " + LONGER_THAN_THE_TEST
                + "; echo ready; until [ -e " + flag + " ]; do sleep 0.02; done; echo oops >&2; exit 7";
        List<HostProcess> nodes = nodes("-n2", "--", "sh", "-c", program);
        nodes.get(1).restOfLine("[3] ready");

        TwoSeconds ending = TwoSeconds.start("two nodes, one rank of which exits");
        Files.createFile(flag);

        for (HostProcess one : nodes) {
            assertEquals(7, one.exitCode(), one::toString);
            String box = box(one);
            assertTrue(box.contains("| ferro: rank 3 failed first: exit code 7\n| " + NODE_1 + ", pid "), box);
            assertTrue(box.contains("\n|   oops\n"), box);
            assertTrue(box.contains("\n| stopped because of it: ranks [1, 2]\n"), box);
        }
        ending.check();
        assertEquals(box(nodes.get(0)), box(nodes.get(1)));
    }

    @Test
    void killedRankIsNamedWithItsHostAndRecordingsOfOtherHostsAreNotMissed() throws Exception {
        List<HostProcess> nodes =
                nodes("-n1", "--backend", "tcp", "-cp", LauncherRun.classPath(), endless(), "behaves", "PT60S");
        nodes.get(1).restOfLine("[1] going");
        String pid = nodes.get(1).errLine("rank 1 = pid ").replaceAll(".*rank 1 = pid (\\d+).*", "$1");

        TwoSeconds ending = TwoSeconds.start("two nodes, one rank of which is killed");
        hosts.run(1, "kill -9 " + pid);

        for (HostProcess one : nodes) {
            assertEquals(137, one.exitCode(), one::toString);
            String box = box(one);
            assertTrue(box.contains("rank 1 failed first: ended by signal KILL (exit code 137)\n| " + NODE_1), box);
            assertTrue(box.contains("rank 1 is to blame: its process is gone on " + NODE_1), box);
            assertFalse(box.contains("wrote no recording"), box);
        }
        ending.check();
    }

    @Test
    void killedLauncherEndsTheOtherNode() throws Exception {
        for (int killed = 0; killed < 2; killed++) {
            List<HostProcess> nodes = nodes("-n1", "--", "sh", "-c", "echo ready; " + LONGER_THAN_THE_TEST);
            nodes.get(0).restOfLine("[0] ready");
            nodes.get(1).restOfLine("[1] ready");

            TwoSeconds ending = TwoSeconds.start("two nodes, one launcher of which is killed");
            nodes.get(killed).kill();

            HostProcess left = nodes.get(1 - killed);
            assertEquals(1, left.exitCode(), left::toString);
            ending.check();
            String box = box(left);
            assertTrue(box.contains("| ferro: node " + killed + " is lost: the connection "), box);
            assertTrue(box.contains("\n| node " + killed + " (host " + hosts.name(killed)), box);
            assertTrue(box.contains(" its rank " + killed + " does not go on"), box);
        }
    }

    @Test
    void networkThatIsCutEndsBothNodesAfterTheSilenceAskedFor() throws Exception {
        List<HostProcess> nodes =
                nodes("-n1", "--node-timeout", "2s", "--", "sh", "-c", "echo ready; " + LONGER_THAN_THE_TEST);
        nodes.get(0).restOfLine("[0] ready");
        nodes.get(1).restOfLine("[1] ready");

        long cutNanos = System.nanoTime();
        hosts.cut(1);

        for (int node = 0; node < 2; node++) {
            HostProcess one = nodes.get(node);
            assertEquals(1, one.exitCode(), one::toString);
            Duration took = Duration.ofNanos(System.nanoTime() - cutNanos);
            assertTrue(took.compareTo(SILENCE.plusSeconds(3)) < 0, took + ": " + one);
            String box = box(one);
            Matcher silent = Pattern.compile("\\| ferro: node " + (1 - node)
                            + " is lost: nothing was heard of its launcher for ([0-9.]+) s: the network")
                    .matcher(box);
            assertTrue(silent.find(), box);
            double seconds = Double.parseDouble(silent.group(1));
            assertTrue(seconds >= LEAST_SILENCE && seconds <= took.toMillis() / 1e3, box);
            assertTrue(box.contains("the network is cut, or the machine is down"), box);
        }
    }

    @Test
    void signalToOneLauncherEndsTheWholeJobInOrder() throws Exception {
        String program = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
        List<HostProcess> nodes = nodes("-n1", "--", "sh", "-c", program);
        nodes.get(0).restOfLine("[0] ready");
        nodes.get(1).restOfLine("[1] ready");

        nodes.get(1).signal("TERM");

        for (int node = 0; node < 2; node++) {
            HostProcess one = nodes.get(node);
            assertEquals(0, one.exitCode(), one::toString);
            assertTrue(one.outLines().contains("[" + node + "] saved"), one::toString);
            assertTrue(one.errText().contains("ended by signal TERM"), one::toString);
        }
    }

    @Test
    void hostsWithoutIpv4JoinByIpv6() throws Exception {
        hosts.close();
        hosts = NamespaceHosts.joined(2, Family.IPV6);
        for (HostProcess one : nodes("-n1", "-cp", LauncherRun.classPath(), JoinsByAuto.class.getName())) {
            assertEquals(0, one.exitCode(), one::toString);
        }
    }

    private static String endless() {
        return FailsInOneRank.class.getName();
    }

    private List<HostProcess> nodes(String... words) throws IOException {
        List<HostProcess> nodes = new ArrayList<>();
        for (int node = 0; node < 2; node++) {
            nodes.add(node(node, secret, words));
        }
        return nodes;
    }

    private HostProcess node(int node, Path secretFile, String... words) throws IOException {
        return hosts.ferro(node, line(node, hosts.endpoint(0, PORT), secretFile, words));
    }

    private static String[] line(int node, String master, Path secretFile, String... words) {
        List<String> line = new ArrayList<>(List.of("run", "--nodes", "2", "--node-rank", "" + node));
        line.addAll(List.of("--master", master, "--secret-file", secretFile.toString()));
        line.addAll(List.of(words));
        return line.toArray(String[]::new);
    }

    /** The last thing that a launcher has printed. */
    private static String box(HostProcess one) {
        List<String> lines = one.errLines();
        String rule = lines.get(lines.size() - 1);
        assertTrue(rule.startsWith("+-----"), one::toString);
        return String.join("\n", lines.subList(lines.indexOf(rule), lines.size()));
    }
}
