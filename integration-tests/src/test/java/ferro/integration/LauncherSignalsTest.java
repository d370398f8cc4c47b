package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@EnabledOnOs(OS.LINUX)
class LauncherSignalsTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    /** Sleeps in a subshell: a shell that is stopped in the middle of its vfork is in state D and not in T. */
    private static final String WAITING = "echo self $$; (while [ ! -e \"$0\" ]; do sleep .05; done) & wait; echo done";

    @ParameterizedTest
    @ValueSource(strings = {"USR1", "ALRM", "VTALRM", "XCPU", "URG", "CONT"})
    @DisplayName("row 48: a signal that asks for no end reaches all ranks of its launcher")
    @Tag("long")
    void aNonTerminatingSignalReachesAllRanks(String signal) throws Exception {
        String program = "trap 'echo got it; exit 0' " + signal + "; echo ready; while :; do sleep 0.05; done";
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--", "sh", "-c", program)) {
            run.restOfLine("[0] ready");
            run.restOfLine("[1] ready");
            run.awaitErrLine("rank 1 = pid ");

            run.signal(signal);

            assertEquals(0, run.exitCode(), run::toString);
            assertTrue(run.outLines().containsAll(List.of("[0] got it", "[1] got it")), run::toString);
        }
    }

    @Test
    void aTerminalResizeReachesNoRankAndEndsNothing(@TempDir Path folder) throws Exception {
        Path end = folder.resolve("end");
        String program = "trap 'echo got it' WINCH; " + WAITING;
        try (LauncherRun run = LauncherRun.start("run", "-n", "1", "--", "sh", "-c", program, end.toString())) {
            run.restOfLine("[0] self ");
            run.awaitErrLine("rank 0 = pid ");

            run.signal("WINCH");
            run.signal("CONT");
            Files.createFile(end);

            assertEquals(0, run.exitCode(), run::toString);
            assertTrue(run.outLines().contains("[0] done"), run::toString);
            assertTrue(!run.outLines().contains("[0] got it"), run::toString);
        }
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"USR1, 138", "ALRM, 142", "VTALRM, 154", "XCPU, 152"})
    @DisplayName("row 48: a rank that ends by it is named, and that its launcher received it")
    void aRankEndedByASignalOfTheLauncherIsReportedWithIt(String signal, int code) throws Exception {
        String program = "[ $RANK = 0 ] && trap '' " + signal + "; echo ready; sleep 1000";
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--", "sh", "-c", program)) {
            run.restOfLine("[0] ready");
            run.restOfLine("[1] ready");
            run.awaitErrLine("rank 1 = pid ");

            run.signal(signal);

            assertEquals(code, run.exitCode(), run::toString);
            run.assertErr("ferro: rank 1 failed first: ended by signal " + signal + " (exit code " + code + ")");
            assertTrue(
                    run.errText().replaceAll("\n\\|\\s+", " ").contains("its launcher received signal " + signal),
                    run::toString);
        }
    }

    @Test
    @DisplayName("row 48: ctrl-Z stops a job, and CONT continues it")
    void theStopKeyStopsRanksAndLauncherUntilCont(@TempDir Path folder) throws Exception {
        Path end = folder.resolve("end");
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--", "sh", "-c", WAITING, end.toString())) {
            List<Long> all = new ArrayList<>(pids(run));
            all.add(run.pid());

            run.signal("TSTP");
            awaitStates(all, Set.of('T'));
            run.signal("CONT");
            awaitStates(all, Set.of('R', 'S', 'D'));
            run.signal("TSTP");
            awaitStates(all, Set.of('T'));
            Files.createFile(end);
            run.signal("CONT");

            assertEquals(0, run.exitCode(), run::toString);
            assertTrue(run.outLines().containsAll(List.of("[0] done", "[1] done")), run::toString);
        }
    }

    @Test
    @DisplayName("row 48: a launcher that is killed while its job is stopped leaves no rank")
    void aLauncherKilledWhileTheJobIsStoppedLeavesNoRank(@TempDir Path folder) throws Exception {
        String end = folder.resolve("end").toString();
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--", "sh", "-c", WAITING, end)) {
            List<Long> ranks = pids(run);
            run.signal("TSTP");
            awaitStates(List.of(ranks.get(0), ranks.get(1), run.pid()), Set.of('T'));

            run.signal("KILL");

            for (long rank : ranks) {
                Processes.awaitEnd(rank, SOON);
            }
        }
    }

    /** Returns the pids of two ranks once they run and their launcher waits for them. */
    private static List<Long> pids(LauncherRun run) throws Exception {
        run.awaitErrLine("rank 1 = pid ");
        return List.of(Long.parseLong(run.restOfLine("[0] self ")), Long.parseLong(run.restOfLine("[1] self ")));
    }

    private static void awaitStates(List<Long> pids, Set<Character> wanted) throws Exception {
        for (long pid : pids) {
            Processes.await(
                    () -> wanted.contains(Processes.state(pid)), SOON, "process " + pid + " is in none of " + wanted);
        }
    }
}
