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

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"close", "exit", "return"})
    void aRankThatEndsAfterItsLastDeviceCallFailsNoOther(String how) throws Exception {
        LauncherRun run = LauncherRun.start(
                        variables("cpu:tcp,cuda:nccl"), "run", "-n", "" + WORLD_SIZE, "--no-bind", PROGRAM, how)
                .ends(0);
        long got =
                run.outLines().stream().filter(line -> line.contains("has 7.0")).count();
        assertEquals(WORLD_SIZE, got, run::toString);
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
    void aJvmExitDuringADeviceCallIsReportedToWaitingRanks(String backend, int tailMicros) throws Exception {
        Map<String, String> variables = variables(backend);
        variables.put("STANDIN_TAIL_US", "" + tailMicros);
        try (LauncherRun run = seenLate(variables, "exit-in-call")) {
            assertNotEquals(0, run.exitCode(), run::toString);
            ExitingTest.assertFailed(
                    run, "ABORTED", "the JVM exits while rank 1 is in recv from rank 0: its main method has returned");
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"nccl", "cpu:tcp,cuda:nccl"})
    void aSignalThatEndsADeviceRankIsReportedToWaitingRanks(String backend) throws Exception {
        try (LauncherRun run = seenLate(variables(backend), "wait")) {
            Processes.signal(Long.parseLong(run.restOfLine("[1] pid: ")), "TERM");
            assertNotEquals(0, run.exitCode(), run::toString);
            ExitingTest.assertFailed(run, "ABORTED", "rank 1 was ended by shutdown (SIGTERM) after seq 1");
        }
    }

    /**
     * Ends each process 3 s after its rank, so that the other ranks have time to print the failure. The launcher stops them
     * half a second after the end of the first process, which on a busy machine is sooner.
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
}
