package ferro.integration;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a job ends when something goes wrong: a rank fails or is killed, the launcher is told to stop or is killed. */
@Tag("text")
class LauncherFailureTest {
    private static final Duration SOON = Duration.ofSeconds(5);
    /** A rank with a child that says who they are; neither listens to polite signals. */
    private static final String STUBBORN = "trap '' TERM INT HUP; (trap '' TERM INT HUP; exec sleep 1000) & "
            + "echo child $!; echo self $$; echo file $FERRO_SECRET_FILE; while :; do sleep 1000; done";

    @TempDir
    private Path folder;

    @Test
    void theJobEndsWithTheFirstExitCodeAndTheFailureReportIsLast() throws Exception {
        String program = "echo line one of $RANK; echo self $$; [ $RANK = 1 ] && echo oops >&2 && exit 7; sleep 1000";
        LauncherRun run =
                LauncherRun.start("run", "-n", "3", "--", "sh", "-c", program).ends(7);
        String pid = run.restOfLine("[1] self ");
        assertSays(
                LauncherRun.box(run),
                "rank 1 failed first: exit code 7",
                ", pid " + pid + ", ",
                "|   line one of 1",
                "|   oops",
                "stopped because of it: ranks 0, 2\n");
    }

    // @start region="command"
    @Test
    void aRankThatEndsWellBeforeOthersIsNotAFailure() throws Exception {
        String program = "[ $RANK = 0 ] && exit 0; sleep 0.5; echo done $RANK";
        LauncherRun run =
                LauncherRun.start("run", "-n", "2", "--", "sh", "-c", program).ends(0);
        assertEquals(List.of("[1] done 1"), run.outLines());
        assertFalse(run.errText().contains("+---"), run::toString);
    }
    // @end

    @Test
    void aKilledRankEndsTheJobAndAllItsProcesses() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "3", "--", "sh", "-c", STUBBORN)) {
            long victim = Long.parseLong(run.restOfLine("[1] self "));
            run.restOfLine("[0] file ");
            run.restOfLine("[2] file ");

            TwoSeconds stopping = TwoSeconds.start("stubborn ranks");
            Processes.kill(victim);

            assertEquals(137, run.exitCode(), run::toString);
            stopping.check();
            run.assertErr("rank 1 failed first: ended by signal KILL (exit code 137)");
            assertNothingLeft(run);
        }
    }

    @Test
    void aStoppedRankDoesNotKeepTheJobFromEnding() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--", "sh", "-c", STUBBORN)) {
            String stopped = run.restOfLine("[0] self ");
            long victim = Long.parseLong(run.restOfLine("[1] self "));
            run.restOfLine("[0] file ");
            run.restOfLine("[1] file ");
            new ProcessBuilder("sh", "-c", "kill -s STOP -- -" + stopped)
                    .start()
                    .waitFor();

            Processes.kill(victim);

            assertEquals(137, run.exitCode(), run::toString);
            assertNothingLeft(run);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aKilledLauncherLeavesNoProcessAndNoFile(boolean onlyPerlCanMakeASession) throws Exception {
        for (String program : List.of("sh", "perl", "sleep", "rm", "cat")) {
            Path found = Child.installed(program).orElseThrow();
            Path shim = Files.writeString(folder.resolve(program), "#!/bin/sh\nexec " + found + " \"$@\"\n");
            assertTrue(shim.toFile().setExecutable(true));
        }
        Map<String, String> path = onlyPerlCanMakeASession ? Map.of("PATH", folder.toString()) : Map.of();
        try (LauncherRun run = LauncherRun.start(path, "run", "-n", "3", "--", "sh", "-c", STUBBORN)) {
            for (int rank = 0; rank < 3; rank++) {
                run.restOfLine("[" + rank + "] file ");
            }

            run.signal("KILL");

            assertEquals(137, run.exitCode());
            assertNothingLeft(run);
        }
    }

    @Test
    void aSignalReachesEveryRankAndTheirExitCodesCount() throws Exception {
        String program = "trap 'echo got it; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--", "sh", "-c", program)) {
            run.restOfLine("[0] ready");
            run.restOfLine("[1] ready");

            run.signal("TERM");

            assertEquals(0, run.exitCode(), run::toString);
            assertTrue(run.outLines().containsAll(List.of("[0] got it", "[1] got it")), run::toString);
            run.assertErr("ended by signal TERM");
        }
    }

    @Test
    void ranksEndedByAForwardedSignalAreNotReportedAsFailed() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--", "sh", "-c", "echo ready; sleep 1000")) {
            run.restOfLine("[0] ready");
            run.restOfLine("[1] ready");

            run.signal("TERM");

            assertEquals(143, run.exitCode(), run::toString);
            assertFalse(run.errText().contains("failed first"), run::toString);
        }
    }

    @Test
    void ranksThatIgnoreASignalAreKilledAfterTheGracePeriod() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--grace", "700ms", "--", "sh", "-c", STUBBORN)) {
            run.restOfLine("[0] file ");
            run.restOfLine("[1] file ");
            long toldAt = System.nanoTime();

            run.signal("TERM");

            assertEquals(143, run.exitCode(), run::toString);
            assertTrue(System.nanoTime() - toldAt >= Duration.ofMillis(700).toNanos(), "killed at once");
            run.assertErr("ranks [0, 1] have not ended 700 ms after signal TERM: they are killed");
            assertFalse(run.errText().contains("failed first"), run::toString);
            assertNothingLeft(run);
        }
    }

    @Test
    void aSecondSignalKillsTheRanks() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "--", "sh", "-c", STUBBORN)) {
            run.restOfLine("[0] file ");
            run.restOfLine("[1] file ");

            // TERM, as INT is ignored for good where a shell has started the build in the background
            run.signal("TERM");
            // a second one that comes while the first is pending is no second one
            run.awaitErrLine("signal TERM is passed on to all ranks");
            run.signal("TERM");

            assertEquals(143, run.exitCode(), run::toString);
            assertNothingLeft(run);
        }
    }

    @Test
    @Tag("long")
    void aSignalEndsAJobWhoseOutputIsNotRead() throws Exception {
        // both ends of a pipe, which is full soon, and whose reading end nobody uses
        String unread = "mkfifo \"$PIPE\" && exec \"$0\" \"$@\" 1<>\"$PIPE\"";
        Map<String, String> variables = Map.of("PIPE", folder.resolve("pipe").toString());
        String program = "trap 'seq 1 100000' TERM; echo ready >&2; while :; do sleep 0.05; done";
        try (LauncherRun run = LauncherRun.inShell(
                unread, variables, "run", "-n", "1", "--grace", "700ms", "--", "sh", "-c", program)) {
            run.awaitErrLine("[0] ready");

            run.signal("TERM");

            assertEquals(143, run.exitCode(), run::toString);
            run.assertErr("ended by signal TERM");
        }
    }

    private static void assertNothingLeft(LauncherRun run) throws InterruptedException {
        for (String line : run.outLines()) {
            if (line.contains("] self ") || line.contains("] child ")) {
                Processes.awaitEnd(Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)), SOON);
            }
            if (line.contains("] file ")) {
                Path secret = Path.of(line.substring(line.lastIndexOf(' ') + 1));
                Processes.await(() -> !Files.exists(secret.getParent()), SOON, secret + " is still there");
            }
        }
    }
}
