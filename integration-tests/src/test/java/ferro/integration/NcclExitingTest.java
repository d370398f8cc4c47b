package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Processes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks with devices whose JVMs end, in good order and otherwise, as processes over the stand-in. */
@Tag("long")
@ExtendWith(StandInPair.class)
@Timeout(240)
class NcclExitingTest {
    private static final String PROGRAM = "ferro.integration.EndsItsDeviceJvm";
    private static final int WORLD_SIZE = 3;

    @ParameterizedTest(name = "{0}, {1}")
    @CsvSource({
        "close, nccl",
        "exit, nccl",
        "return, nccl",
        "close, 'cpu:tcp,cuda:nccl'",
        "exit, 'cpu:tcp,cuda:nccl'",
        "return, 'cpu:tcp,cuda:nccl'"
    })
    void aRankThatEndsAfterItsLastDeviceCallFailsNoneThatIsLateInIt(String how, String backend) throws Exception {
        LauncherRun run = launched(backend, how).ends(0);
        assertEquals(WORLD_SIZE, count(run.outLines(), "has 7.0"), run::toString);
        assertTrue(run.errLines().stream().noneMatch(line -> line.contains("to blame")), run::toString);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"close", "exit", "return"})
    void theRankThatServesTheStoreMayEndFirst(String how) throws Exception {
        List<String> line = JavaLine.rank(List.of("-Xmx64m"), PROGRAM, how);
        try (Job job = Job.byHand(WORLD_SIZE, variables("nccl"), rank -> line)) {
            for (Child rank : job.ended(0)) {
                assertEquals(List.of("has 7.0"), rank.outLines(), job::toString);
            }
        }
    }

    @ParameterizedTest(name = "{0}, each rank sees the end of a call {1} µs after the one before it")
    @CsvSource({"nccl, 0", "'cpu:tcp,cuda:nccl', 0", "'cpu:tcp,cuda:nccl', 100000"})
    void ranksThatWaitForOneWhoseJvmExitsInADeviceCallHearSo(String backend, int tailMicros) throws Exception {
        Map<String, String> variables = variables(backend);
        variables.put("STANDIN_TAIL_US", "" + tailMicros);
        try (LauncherRun run = seenLate(variables, "exit-in-call")) {
            assertNotEquals(0, run.exitCode(), run::toString);
            check(run, "the JVM exits while rank 1 is in recv from rank 0: its main method has returned");
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"nccl", "cpu:tcp,cuda:nccl"})
    void ranksThatWaitForOneThatASignalEndsHearWhich(String backend) throws Exception {
        try (LauncherRun run = seenLate(variables(backend), "wait")) {
            Processes.signal(Long.parseLong(run.restOfLine("[1] pid: ")), "TERM");
            assertNotEquals(0, run.exitCode(), run::toString);
            check(run, "rank 1 was ended by shutdown (SIGTERM) after seq 1");
        }
    }

    private static LauncherRun launched(String backend, String how) throws IOException {
        return LauncherRun.start(variables(backend), "run", "-n", "" + WORLD_SIZE, "--no-bind", PROGRAM, how);
    }

    /**
     * The launcher sees the end of a rank when the others have had time to say what they have heard of it: it stops them half a
     * second after it, which on a busy machine is sooner.
     */
    private static LauncherRun seenLate(Map<String, String> variables, String how) throws IOException {
        List<String> line = new ArrayList<>(List.of("run", "-n", "" + WORLD_SIZE, "--no-bind", "--"));
        line.addAll(List.of("sh", "-c", "\"$0\" \"$@\"; code=$?; sleep 3; exit $code"));
        line.addAll(JavaLine.rank(List.of(), PROGRAM, how));
        return LauncherRun.start(variables, line.toArray(String[]::new));
    }

    private static Map<String, String> variables(String backend) {
        return StandInPair.variables("STANDIN_EARLY_RETURNS", "1", "FERRO_BACKEND", backend);
    }

    private static long count(List<String> lines, String text) {
        return lines.stream().filter(line -> line.contains(text)).count();
    }

    private static List<String> failed(List<String> lines) {
        return lines.stream().filter(line -> line.contains("failed: ")).toList();
    }

    private static void check(LauncherRun run, String text) {
        List<String> failed = failed(run.outLines());
        assertEquals(WORLD_SIZE - 1, failed.size(), run::toString);
        for (String line : failed) {
            assertTrue(line.contains("ABORTED by 1"), line);
            assertTrue(line.contains(text), line);
        }
    }
}
