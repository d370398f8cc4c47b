package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Processes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks whose JVMs end, in good order and otherwise, as processes under the launcher. */
@Timeout(240)
class ExitingTest {
    private static final String PROGRAM = "ferro.integration.EndsItsJvm";

    @ParameterizedTest(name = "{0}, {1} floats, {2}")
    @CsvSource({
        "close, 1000, tcp",
        "exit, 400000, tcp",
        "return, 1000, tcp",
        "return, 400000, tcp",
        "exit, 1000, shm",
        "return, 400000, shm"
    })
    @Tag("long")
    void aPipelineStageMayEndAsSoonAsItsPartIsDone(String how, String floats, String links) throws Exception {
        LauncherRun run = LauncherRun.start(
                        Map.of("FERRO_LINKS", links), "run", "-n", "3", "--no-bind", PROGRAM, how, floats)
                .ends(0);
        String report = links.equals("tcp") ? "do not share memory" : "all 3 ranks share memory";
        assertEquals(
                3,
                lines(run, "links: ").stream()
                        .filter(line -> line.contains(report))
                        .count(),
                run::toString);
        assertTrue(run.errLines().stream().noneMatch(line -> line.contains("to blame")), run::toString);
    }

    @Tag("long")
    @Test
    void aJvmExitDuringACallIsReportedToWaitingRanks() throws Exception {
        try (LauncherRun run = LauncherRun.start(Map.of(), "run", "-n", "3", "--no-bind", PROGRAM, "exit-in-call")) {
            assertNotEquals(0, run.exitCode(), run::toString);
            assertFailed(run, "ABORTED", "the JVM exits while rank 1 is in recv from rank 0 tag 9");
        }
    }

    @Tag("long")
    @Test
    void callsOfAnotherThreadThatAnExitInterruptsAbortNothing() throws Exception {
        LauncherRun run = LauncherRun.start(Map.of(), "run", "-n", "3", "--no-bind", PROGRAM, "exit-beside-calls")
                .ends(0);
        assertFailed(run, "PEER_LOST", "rank 1 left group \"world\" after seq 1; this call is seq 2");
    }

    @Test
    void aSignalThatEndsARankIsReportedToWaitingRanks() throws Exception {
        try (LauncherRun run = LauncherRun.start(Map.of(), "run", "-n", "3", "--no-bind", PROGRAM, "wait")) {
            String pid = run.restOfLine("[1] pid: ");
            Processes.signal(Long.parseLong(pid), "TERM");
            assertNotEquals(0, run.exitCode(), run::toString);
            assertFailed(run, "ABORTED", "rank 1 was ended by shutdown (SIGTERM) after seq 1");
        }
    }

    /** Each of the two other ranks has failed with this code by rank 1, and with this text. */
    static void assertFailed(LauncherRun run, String code, String text) {
        List<String> failed = lines(run, "failed: ");
        assertEquals(2, failed.size(), run::toString);
        for (String line : failed) {
            assertTrue(line.contains(code + " by 1"), line);
            assertTrue(line.contains(text), line);
        }
    }

    private static List<String> lines(LauncherRun run, String start) {
        return run.outLines().stream()
                .filter(line -> line.contains(start))
                .map(line -> line.substring(line.indexOf(start)))
                .toList();
    }
}
