package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Survivors get the exit code, signal and last line of a dead rank's process, without the job's secret. */
@Timeout(120)
class EndedRanksTest {
    private static final String PROGRAM = PrintsHowARankEnded.class.getName();
    private static final String LAST_LINE = "last words \\*{32,}[?]";

    @TempDir
    private Path folder;

    @Test
    void survivorsOnTheSameHostReceiveHowARankWasKilled() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "3", "--backend", "tcp", PROGRAM)) {
            assertNotEquals(0, run.exitCode(), run::toString);

            long logged = 0;
            for (int rank : new int[] {0, 2}) {
                assertHears(rank, run.outLines(), run.toString());
                logged += logged(rank, run.errLines(), run.toString());
            }
            assertTrue(logged > 0, run::toString);
            assertFalse(run.outLines().stream().anyMatch(line -> line.startsWith("[1] hears")), run::toString);
        }
    }

    @Test
    @Tag("long")
    void survivorsOnAnotherHostReceiveHowARankWasKilledByTls() throws Exception {
        try (TwoNodes nodes = TwoNodes.joined(folder, Family.IPV4)) {
            List<HostProcess> job = nodes.start("-n", "2", "--backend", "tcp", PROGRAM);
            for (HostProcess node : job) {
                assertNotEquals(0, node.exitCode(), node::toString);
            }
            long logged = 0;
            for (int rank : new int[] {0, 2, 3}) {
                HostProcess node = job.get(rank / 2);
                assertHears(rank, node.outLines(), node.toString());
                logged += logged(rank, node.errLines(), node.toString());
            }
            assertTrue(logged > 0, job::toString);
            for (HostProcess node : job) {
                String box = LauncherRun.box(node);
                assertTrue(
                        box.lines().anyMatch(line -> line.matches("\\|\\s+" + LAST_LINE)),
                        () -> "secret in the box: " + box);
            }
        }
    }

    /** The store is on node 0, so a rank of that node reads it within its host. */
    @Test
    @Tag("long")
    void theEndOfARankIsNotSentToOtherHostsUnencrypted() throws Exception {
        try (TwoNodes nodes = TwoNodes.joined(folder, Family.IPV4)) {
            List<HostProcess> job = nodes.start("-n", "2", "-J-Dferro.tls=off", "--backend", "tcp", PROGRAM);
            for (HostProcess node : job) {
                assertNotEquals(0, node.exitCode(), node::toString);
            }
            HostProcess second = job.get(1);
            assertEquals(
                    List.of(),
                    second.outLines().stream()
                            .filter(line -> line.contains("hears"))
                            .toList());
            assertFalse(second.errLines().stream().anyMatch(line -> line.contains("its last line")), second::toString);
            HostProcess first = job.get(0);
            assertHears(0, first.outLines(), first.toString());
        }
    }

    private static void assertHears(int rank, List<String> out, String output) {
        String end = "RankEnd\\[pid=\\d+, host=\\S+, exitCode=137, signal=KILL, lastLine=" + LAST_LINE + "]";
        // the message is without it: the text of a failure goes to all ranks, also over plain connections
        Pattern line =
                Pattern.compile("\\[" + rank + "] hears " + end + " \\| group \"world\" has failed((?!last words).)*");
        assertTrue(out.stream().anyMatch(one -> line.matcher(one).matches()), output);
    }

    /**
     * Returns how often a rank has logged the end: once, or not at all if the launcher has ended it before, which takes a busy
     * machine.
     */
    private static long logged(int rank, List<String> err, String output) {
        Pattern line = Pattern.compile(
                "\\[" + rank + "] WARNING ferro.group: rank " + rank + " of \"world\": rank 1 \\(pid \\d+"
                        + " on host \\S+\\) was ended by signal KILL; its last line: " + LAST_LINE);
        long logged = err.stream().filter(one -> line.matcher(one).matches()).count();
        assertTrue(logged <= 1, output);
        return logged;
    }
}
