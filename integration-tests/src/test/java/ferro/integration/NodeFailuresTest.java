package ferro.integration;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** How jobs of two hosts end: every launcher says the same, and ends with the same exit code. */
@Timeout(120)
@Tag("text")
class NodeFailuresTest {
    private static final String LONGER_THAN_THE_TEST = "sleep 1000";
    private static final String[] SLEEPING = {"--", "sh", "-c", "echo ready; " + LONGER_THAN_THE_TEST};
    /** What a busy machine takes beside the silence asked for. */
    private static final Duration NOISE = Duration.ofSeconds(3);
    /** In seconds: a silence counts from the last heartbeat, which may have come so long before its cause. */
    private static final double BEAT = 0.5;

    @TempDir
    private static Path folder;

    @RegisterExtension
    static final TwoNodes hosts = new TwoNodes();

    @Test
    @DisplayName("row 40: an exit code on one node ends both with it, also the one whose ranks are done")
    @Tag("long")
    void anExitCodeOnOneNodeEndsBothNodes() throws Exception {
        Path flag = folder.resolve("flag");
        String program = "[ $RANK = 0 ] && exit 0; [ $RANK = 3 ] || exec " + LONGER_THAN_THE_TEST
                + "; echo ready; until [ -e " + flag + " ]; do sleep 0.02; done; echo oops >&2; exit 7";
        List<HostProcess> nodes = hosts.start("-n2", "--", "sh", "-c", program);
        nodes.get(1).restOfLine("[3] ready");
        String done = TwoNodes.pid(nodes.get(0), 0);
        while (hosts.hosts().succeeds(0, "test -e /proc/" + done)) {
            Thread.sleep(20);
        }

        TwoSeconds ending = TwoSeconds.start("two nodes, one rank of which exits");
        Files.createFile(flag);

        HostProcess.assertEnd(7, nodes);
        ending.check();
        for (HostProcess one : nodes) {
            String box = LauncherRun.box(one);
            assertSays(
                    box,
                    "| ferro: rank 3 failed first: exit code 7\n| rank 3: " + TwoNodes.NODE_1 + ", pid ",
                    "\n|   oops\n",
                    "\n| stopped because of it: ranks 1, 2\n");
        }
        assertEquals(LauncherRun.box(nodes.get(0)), LauncherRun.box(nodes.get(1)));
    }

    @Test
    @DisplayName("row 40: a rank that is killed on one node is named by both, with its host")
    void aKilledRankIsNamedWithItsHostOnBothNodes() throws Exception {
        List<HostProcess> nodes = adding("PT60S");

        TwoSeconds ending = TwoSeconds.start("two nodes, one rank of which is killed");
        hosts.hosts().run(1, "kill -9 " + TwoNodes.pid(nodes.get(1), 1));

        HostProcess.assertEnd(137, nodes);
        ending.check();
        for (HostProcess one : nodes) {
            String box = LauncherRun.box(one);
            assertSays(
                    box,
                    "rank 1 failed first: ended by signal KILL (exit code 137)\n| rank 1: " + TwoNodes.NODE_1,
                    "| diagnosis: rank 1 is to blame: its process is gone",
                    "\n| failed because of it: rank 0\n");
            assertFalse(box.contains("wrote no recording"), box);
        }
        assertEquals(LauncherRun.box(nodes.get(0)), LauncherRun.box(nodes.get(1)));
    }

    @Test
    @DisplayName("row 39: a launcher that is killed ends the other node, which names it")
    @Tag("long")
    void aKilledLauncherEndsTheOtherNode() throws Exception {
        for (int killed = 0; killed < 2; killed++) {
            List<HostProcess> nodes = sleeping();

            TwoSeconds ending = TwoSeconds.start("two nodes, one launcher of which is killed");
            nodes.get(killed).kill();

            HostProcess left = nodes.get(1 - killed);
            assertEquals(1, left.exitCode(), left::toString);
            ending.check();
            String box = LauncherRun.box(left);
            assertTrue(box.contains("| ferro: node " + killed + " is lost: the connection "), box);
            assertTrue(box.contains("\n| " + name(killed) + ", rank " + killed + ", "), box);
            assertTrue(box.contains(" its rank " + killed + " cannot continue"), box);
        }
    }

    @Test
    @Tag("long")
    @DisplayName("row 41: nodes that are cut apart end within --node-timeout, 10 s by default")
    void aNetworkCutEndsBothNodesWithinTheNodeTimeout() throws Exception {
        List<HostProcess> soon = sleeping("--node-timeout", "4s");
        List<HostProcess> byDefault = sleeping();

        long cutNanos = System.nanoTime();
        hosts.hosts().cut(1);
        try {
            assertLostToEachOther(soon, cutNanos, 1.0, Duration.ofSeconds(4).plus(NOISE));
            assertLostToEachOther(
                    byDefault, cutNanos, 7.0, Duration.ofSeconds(10).plusMillis(500));
        } finally {
            hosts.hosts().mend(1);
        }
    }

    /** Each of two nodes that still run has lost the other, after some seconds of silence at least. */
    private static void assertLostToEachOther(List<HostProcess> nodes, long cutNanos, double silence, Duration within)
            throws Exception {
        for (int node = 0; node < 2; node++) {
            HostProcess one = nodes.get(node);
            assertEquals(1, one.exitCode(), one::toString);
            Duration took = Duration.ofNanos(System.nanoTime() - cutNanos);
            System.out.println("job of two nodes that were cut apart ended " + took.toMillis() + " ms after the cut");
            assertTrue(took.compareTo(within) < 0, took + ": " + one);
            String box = LauncherRun.box(one);
            double seconds = silence(box, 1 - node);
            assertTrue(seconds >= silence && seconds <= took.toMillis() / 1e3 + BEAT, box);
            assertTrue(box.contains("the network is cut, or the machine is down"), box);
            assertTrue(box.contains("\n| " + name(1 - node) + ", rank " + (1 - node) + ", "), box);
        }
    }

    private static double silence(String box, int node) {
        Matcher silent = Pattern.compile(
                        "\\| ferro: node " + node + " is lost: its launcher sent nothing for ([0-9.]+) s: the network")
                .matcher(box);
        assertTrue(silent.find(), box);
        return Double.parseDouble(silent.group(1));
    }

    @Test
    @DisplayName("row 41: a launcher that stands still is lost to the other node within --node-timeout")
    @Tag("long")
    void aStoppedLauncherIsLostToTheOtherNodeAndEndsLater() throws Exception {
        List<List<HostProcess>> jobs = List.of(sleeping("--node-timeout", "4s"), sleeping("--node-timeout", "4s"));

        long stopNanos = System.nanoTime();
        for (int stopped = 0; stopped < 2; stopped++) {
            jobs.get(stopped).get(stopped).signal("STOP");
        }

        for (int stopped = 0; stopped < 2; stopped++) {
            HostProcess left = jobs.get(stopped).get(1 - stopped);
            assertEquals(1, left.exitCode(), left::toString);
            Duration took = Duration.ofNanos(System.nanoTime() - stopNanos);
            assertTrue(took.compareTo(Duration.ofSeconds(4).plus(NOISE)) < 0, took + ": " + left);
            String box = LauncherRun.box(left);
            assertTrue(silence(box, stopped) >= 1.0, box);
            assertTrue(box.contains(" or suspended\n| " + name(stopped) + ", rank " + stopped + ", "), box);
        }
        for (int stopped = 0; stopped < 2; stopped++) {
            HostProcess late = jobs.get(stopped).get(stopped);
            late.goOn();
            assertEquals(1, late.exitCode(), late::toString);
            assertTrue(LauncherRun.box(late).contains("node " + (1 - stopped) + " is lost: "), late::toString);
        }
    }

    @Test
    @Tag("long")
    void aStopKeyForLongerThanTheNodeTimeoutEndsBothNodes() throws Exception {
        List<HostProcess> nodes = sleeping("--node-timeout", "4s");
        String rank = TwoNodes.pid(nodes.get(1), 1);

        nodes.get(1).signal("TSTP");

        assertEquals(1, nodes.get(0).exitCode(), nodes::toString);
        String box = LauncherRun.box(nodes.get(0));
        assertTrue(silence(box, 1) >= 1.0, box);
        nodes.get(1).goOn();
        assertEquals(1, nodes.get(1).exitCode(), nodes::toString);
        assertTrue(
                nodes.get(1).errText().contains("signal TSTP: all ranks here and their launcher are suspended"),
                nodes::toString);
        assertFalse(hosts.hosts().succeeds(1, "test -e /proc/" + rank), nodes::toString);
    }

    @Test
    @DisplayName("row 40: a rank that stands still on one node is named by both, with its host")
    @Tag("long")
    void aStoppedRankOnAnotherNodeIsNamedWithItsHost() throws Exception {
        List<HostProcess> nodes = adding("PT5S");
        String pid = TwoNodes.pid(nodes.get(1), 1);

        hosts.hosts().run(1, "kill -s STOP " + pid);

        for (HostProcess one : nodes) {
            assertEquals(1, one.exitCode(), one::toString);
            String box = LauncherRun.box(one);
            assertTrue(box.contains("rank 1 is to blame: its process was suspended by a signal "), box);
            assertTrue(box.contains("| rank 1: " + TwoNodes.NODE_1 + ", pid " + pid), box);
            assertTrue(box.contains("| kill -s CONT " + pid + " on " + TwoNodes.NODE_1 + " would have resumed"), box);
        }
        assertEquals(LauncherRun.box(nodes.get(0)), LauncherRun.box(nodes.get(1)));
    }

    @Test
    @DisplayName("row 45: a signal to one launcher goes on to all ranks")
    void aSignalToOneLauncherEndsTheWholeJob() throws Exception {
        String program = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
        List<HostProcess> nodes = hosts.start("-n1", "--", "sh", "-c", program);
        nodes.get(0).restOfLine("[0] ready");
        nodes.get(1).restOfLine("[1] ready");

        nodes.get(1).signal("TERM");

        for (int node = 0; node < 2; node++) {
            HostProcess one = nodes.get(node);
            assertEquals(0, one.exitCode(), one::toString);
            assertTrue(one.outLines().contains("[" + node + "] saved"), one::toString);
            one.assertErr("ended by signal TERM");
        }
    }

    @Test
    @DisplayName("row 46: hosts that have IPv6 alone join")
    @Tag("long")
    void hostsWithoutIpv4JoinByIpv6(@TempDir Path own) throws Exception {
        try (TwoNodes other = TwoNodes.joined(own, Family.IPV6)) {
            String program = JoinsByAuto.class.getName();
            HostProcess.assertEnd(0, other.start("-n1", "-cp", LauncherRun.classPath(), program));
        }
    }

    private static String name(int node) {
        return node == 0 ? TwoNodes.NODE_0 : TwoNodes.NODE_1;
    }

    private static List<HostProcess> sleeping(String... options) throws Exception {
        List<String> words = new ArrayList<>(List.of("-n1"));
        words.addAll(List.of(options));
        words.addAll(List.of(SLEEPING));
        List<HostProcess> nodes = hosts.start(words.toArray(String[]::new));
        nodes.get(0).restOfLine("[0] ready");
        nodes.get(1).restOfLine("[1] ready");
        return nodes;
    }

    private static List<HostProcess> adding(String deadline) throws Exception {
        String program = FailsInOneRank.class.getName();
        List<HostProcess> nodes =
                hosts.start("-n1", "--backend", "tcp", "-cp", LauncherRun.classPath(), program, "behaves", deadline);
        nodes.get(1).restOfLine("[1] going");
        return nodes;
    }
}
