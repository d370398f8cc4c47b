package ferro.integration.restarts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Processes;
import ferro.integration.LauncherRun;
import ferro.integration.TwoNodes;
import ferro.integration.hosts.HostProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Jobs of two hosts, made of namespaces, that start again after a failure; between the hosts is TLS. */
@Timeout(180)
@Tag("long")
class RestartsOnNodesTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    @RegisterExtension
    static final TwoNodes nodes = new TwoNodes();

    @TempDir
    private Path folder;

    private final class SumsAgain {
        private final TwoNodes.Job job = nodes.job();
        private final int restarts;

        SumsAgain() {
            this(3);
        }

        SumsAgain(int restarts) {
            this.restarts = restarts;
        }

        HostProcess launcher(int node, String... options) throws Exception {
            return launcher(node, job, Map.of(), options);
        }

        private HostProcess launcher(int node, TwoNodes.Job named, Map<String, String> environment, String... options)
                throws Exception {
            List<String> line = new ArrayList<>(List.of("-n2", "--restarts", "" + restarts));
            line.addAll(List.of(options));
            line.addAll(List.of("-J-Xmx64m", "-cp", LauncherRun.classPath()));
            line.addAll(List.of(SumsOfGenerations.class.getName(), end().toString()));
            return named.node(node, environment, line.toArray(String[]::new));
        }

        /** Starts launchers that know node 0 by a name, which a file of host names has. */
        List<HostProcess> startByName(Path names) throws Exception {
            Files.writeString(names, nodes.hosts().address(0) + " node-0.example\n");
            Map<String, String> environment = Map.of(
                    "JAVA_TOOL_OPTIONS",
                    "-Djdk.net.hosts.file=" + names + " -Dsun.net.inetaddr.ttl=0 -Dsun.net.inetaddr.negative.ttl=0");
            TwoNodes.Job named = job.withMaster("node-0.example:" + job.master().replaceFirst(".*:", ""));
            List<HostProcess> both = List.of(launcher(0, named, environment), launcher(1, named, environment));
            awaitSums(both, 0);
            return both;
        }

        List<HostProcess> start(String... options) throws Exception {
            List<HostProcess> both = List.of(launcher(0, options), launcher(1, options));
            awaitSums(both, 0);
            return both;
        }
    }

    private Path end() {
        return folder.resolve("end");
    }

    private static void awaitSums(List<HostProcess> launchers, int generation) throws InterruptedException {
        for (int rank = 0; rank < 4; rank++) {
            pid(launchers.get(rank / 2), rank, generation);
        }
    }

    /** Waits until a rank adds up, and returns its pid inside its host. */
    private static String pid(HostProcess launcher, int rank, int generation) throws InterruptedException {
        String rest = launcher.restOfLine("[" + rank + "] generation " + generation + " sums as pid ");
        return rest.substring(0, rest.indexOf(' '));
    }

    private void assertEndsWell(List<HostProcess> launchers, int generation) throws Exception {
        Files.createFile(end());
        HostProcess.assertEnd(0, launchers);
        assertTrue(launchers.get(1).outLines().contains("[3] done in generation " + generation), launchers::toString);
    }

    @Test
    @DisplayName("row 52: a rank that is killed on one node starts the ranks of both again, over TLS")
    void aKilledRankRestartsTheRanksOfBothNodes() throws Exception {
        List<HostProcess> both = new SumsAgain().start();
        nodes.hosts().run(1, "kill -9 " + pid(both.get(1), 3, 0));

        for (HostProcess one : both) {
            one.errLine("ferro: generation 1 of at most 3 starts in 1s: rank 3 was ended by signal KILL");
        }
        awaitSums(both, 1);
        nodes.hosts().run(0, "kill -9 " + pid(both.get(0), 0, 1));
        awaitSums(both, 2);
        String report = both.get(0).restOfLine("[0] generation 2 sums as pid ");
        assertTrue(report.contains("with TLS"), report);
        assertEndsWell(both, 2);
        assertEquals(ends(both.get(0)), ends(both.get(1)));
        assertEquals(4, ends(both.get(0)).size(), both::toString);
    }

    @Test
    void restartsAreCountedPerJobAndNotPerNode() throws Exception {
        List<HostProcess> both = new SumsAgain(1).start();
        nodes.hosts().run(1, "kill -9 " + pid(both.get(1), 3, 0));
        awaitSums(both, 1);
        nodes.hosts().run(0, "kill -9 " + pid(both.get(0), 0, 1));

        for (HostProcess one : both) {
            assertEquals(137, one.exitCode(), both::toString);
            assertTrue(
                    one.errText().contains("the job does not start again: the only restart is used"), both::toString);
        }
    }

    /** Ranks need the name, and wait for it. */
    @Test
    void aTemporaryNameServiceFailureDoesNotEndARestart() throws Exception {
        Path names = folder.resolve("names");
        List<HostProcess> both = new SumsAgain().startByName(names);
        String known = Files.readString(names);
        Files.writeString(names, "");
        nodes.hosts().run(1, "kill -9 " + pid(both.get(1), 3, 0));
        for (HostProcess one : both) {
            Processes.await(() -> starts(one) > 1, SOON, "no rank is started again: " + both);
        }
        Files.writeString(names, known);
        awaitSums(both, 1);
        assertEndsWell(both, 1);
    }

    private static long starts(HostProcess launcher) {
        return launcher.errLines().stream()
                .filter(line -> line.contains(" = pid "))
                .count();
    }

    private static List<String> ends(HostProcess launcher) {
        List<String> lines = launcher.errLines();
        return lines.subList(lines.indexOf("ferro: the job had these generations:"), lines.size());
    }

    @Test
    @DisplayName("row 54: a launcher that is killed and started again takes the place of its node")
    void aRestartedLauncherTakesItsNode() throws Exception {
        SumsAgain job = new SumsAgain();
        List<HostProcess> both = job.start();
        both.get(1).kill();

        HostProcess again = job.launcher(1);
        both.get(0).errLine("ferro: generation 1 of at most 3 starts in 1s: node 1 is lost: ");

        List<HostProcess> now = List.of(both.get(0), again);
        awaitSums(now, 1);
        assertEndsWell(now, 1);
    }

    @Test
    @DisplayName("row 54: a launcher that is killed and does not come back ends the job")
    @Tag("long")
    void aLauncherThatIsNotRestartedEndsTheJob() throws Exception {
        List<HostProcess> both = new SumsAgain().start("--node-timeout", "2s");
        both.get(1).kill();

        assertEquals(1, both.get(0).exitCode(), both::toString);
        assertTrue(
                both.get(0).errText().contains("node 1 of 2 did not come back within 2000 ms: check that ferro run"),
                both::toString);
        assertTrue(both.get(0).errText().contains("(--node-timeout sets the time)"), both::toString);
        assertTrue(
                ends(both.get(0)).get(1).matches("ferro: +generation 0: [0-9.]+ s, node 1 is lost: .*"),
                both::toString);
    }

    @Test
    @DisplayName("row 54: if the launcher of node 0 is killed, the job ends")
    @Tag("long")
    void theJobEndsWithTheLauncherOfNodeZero() throws Exception {
        List<HostProcess> both = new SumsAgain().start();
        nodes.hosts().run(1, "kill -9 " + pid(both.get(1), 3, 0));
        awaitSums(both, 1);
        both.get(0).kill();

        assertEquals(1, both.get(1).exitCode(), both::toString);
        String said = both.get(1).errText();
        assertTrue(said.contains("| ferro: node 0 is lost: "), both::toString);
        assertFalse(said.contains("generation 2 of at most 3 starts in "), both::toString);
        assertTrue(said.contains("| the job had these generations:\n|   generation 0: "), both::toString);
        assertTrue(said.contains("\n|   generation 1: "), both::toString);
    }

    /** A loop of a shell ends with exit code 0, and starts the launcher again after any other one. */
    @Test
    void aSecondLauncherOfANodeEndsWithTheJob() throws Exception {
        SumsAgain job = new SumsAgain();
        List<HostProcess> both = job.start();
        HostProcess second = job.launcher(1);
        second.errLine("ferro: another launcher runs as node 1 ");

        assertEndsWell(both, 0);

        assertEquals(0, second.exitCode(), second::toString);
        second.errLine("ferro: the job has ended with exit code 0, so this launcher of node 1 starts no rank");
    }

    @Test
    @DisplayName("row 53: a node that was stopped until another launcher had its place changes no sum")
    @Tag("long")
    void aStoppedNodeThatWasReplacedChangesNoSum() throws Exception {
        SumsAgain job = new SumsAgain();
        List<HostProcess> both = job.start();
        List<String> stopped = List.of(pid(both.get(1), 2, 0), pid(both.get(1), 3, 0));
        for (String pid : stopped) {
            nodes.hosts().run(1, "kill -STOP " + pid);
        }
        both.get(1).signal("STOP");

        HostProcess again = job.launcher(1);
        both.get(0).errLine("ferro: generation 1 of at most 3 starts in 1s: ");
        List<HostProcess> now = List.of(both.get(0), again);
        awaitSums(now, 1);
        for (String pid : stopped) {
            nodes.hosts().run(1, "kill -CONT " + pid);
        }
        both.get(1).goOn();

        assertTrue(both.get(1).exitCode() != 0, both::toString);
        for (String pid : stopped) {
            assertFalse(nodes.hosts().succeeds(1, "test -e /proc/" + pid), both::toString);
        }
        assertEndsWell(now, 1);
    }

    @Test
    @DisplayName("row 45: a signal to one launcher that waits for the next generation ends all")
    @Tag("long")
    void aSignalWhileLaunchersWaitEndsAllLaunchers() throws Exception {
        List<HostProcess> both = new SumsAgain().start();
        nodes.hosts().run(1, "kill -9 " + pid(both.get(1), 3, 0));
        both.get(1).errLine("generation 1 of at most 3 starts in 1s");

        both.get(1).signal("TERM");

        for (HostProcess one : both) {
            assertEquals(143, one.exitCode(), both::toString);
            assertTrue(
                    one.errText().contains("was ended by signal TERM before generation 1 was started"), both::toString);
        }
    }
}
