package ferro.integration.restarts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import ferro.harness.Jvm;
import ferro.harness.Processes;
import ferro.integration.LauncherRun;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@EnabledOnOs(OS.LINUX)
@Timeout(120)
class RestartsTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private LauncherRun run(String... words) throws IOException {
        return LauncherRun.start(Map.of("TMPDIR", folder.toString()), words);
    }

    private String[] sums(String words) {
        return (words + " -cp " + LauncherRun.classPath() + " " + SumsOfGenerations.class.getName() + " " + end())
                .split(" ");
    }

    private Path end() {
        return folder.resolve("end");
    }

    private static long awaitSums(LauncherRun run, int rank, int generation) throws InterruptedException {
        String rest = run.restOfLine("[" + rank + "] generation " + generation + " sums as pid ");
        return Long.parseLong(rest.substring(0, rest.indexOf(' ')));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    @DisplayName("row 52: a rank that is killed starts the job again, which then ends well and leaves nothing")
    void aKilledRankRestartsTheJobWhichThenEndsWell(String links) throws Exception {
        try (LauncherRun run = run(sums("run -n 3 --restarts 3 --links " + links))) {
            for (int rank = 0; rank < 3; rank++) {
                awaitSums(run, rank, 0);
            }
            Processes.kill(awaitSums(run, 1, 0));

            run.awaitErrLine("ferro: generation 1 of at most 3 starts in 1s: rank 1 was ended by signal KILL");
            awaitSums(run, 2, 1);
            Files.createFile(end());

            assertEquals(0, run.exitCode(), run::toString);
            assertTrue(run.outLines().contains("[0] done in generation 1"), run::toString);
            List<String> lines = run.errLines();
            int list = lines.indexOf("ferro: the job had these generations:");
            assertTrue(list > 0, run::toString);
            assertTrue(
                    lines.get(list + 1).matches("ferro: +generation 0: [0-9.]+ s, rank 1 was ended by signal KILL"),
                    run::toString);
            assertTrue(
                    lines.get(list + 2).matches("ferro: +generation 1: [0-9.]+ s, all ranks ended with exit code 0"),
                    run::toString);
        }
        Files.delete(end());
        assertEquals(List.of(), RestartDrillTest.inside(folder));
    }

    @Test
    @Tag("long")
    void theFailureReportOfTheLastFailureListsAllGenerations() throws Exception {
        try (LauncherRun run = run(sums("run -n 2 --restarts 1 --log-dir " + folder.resolve("logs")))) {
            Processes.kill(awaitSums(run, 1, 0));
            Processes.kill(awaitSums(run, 0, 1));

            assertEquals(137, run.exitCode(), run::toString);
            String said = run.errText();
            assertTrue(said.contains("ferro: the job does not start again: the only restart is used"), said);
            assertTrue(said.contains("\n| ferro: rank 0 failed first: ended by signal KILL"), said);
            assertTrue(said.contains("\n| the job had these generations:\n|   generation 0: "), said);
            assertTrue(Files.exists(folder.resolve("logs/generation-0/rank-0.log")));
            assertTrue(Files.readString(folder.resolve("logs/generation-1/rank-1.log"))
                    .startsWith("generation 1 sums as pid "));
            String analyze = run.errLines().stream()
                    .filter(line -> line.contains(" analyze "))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(run.toString()));
            Path recorded = Path.of(analyze.substring(analyze.lastIndexOf(' ') + 1));
            assertEquals("generation-1", recorded.getFileName().toString());
            LauncherRun reads = run("analyze", recorded.toString()).ends(0);
            assertTrue(reads.outLines().toString().contains("rank 0"), reads::toString);
        }
    }

    @Test
    @DisplayName("row 52: a save that fails on a full disk starts the job again, which continues when there is room")
    @Tag("long")
    void aSaveThatFailsOnAFullDiskRestartsTheJob() throws Exception {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        assumeTrue(Child.succeeds("unshare", "--mount", "true"), "cannot mount here: needs root and unshare");
        String mount = "mount -t tmpfs -o size=1m none " + disk + "; ";
        try (LauncherRun run = LauncherRun.inShell(
                "exec unshare --mount sh -c '" + mount + "exec \"$0\" \"$@\"' \"$0\" \"$@\"",
                Map.of("TMPDIR", folder.toString()),
                ("run -n 2 --restarts 3 -cp " + LauncherRun.classPath() + " " + SumsOfGenerations.class.getName() + " "
                                + end() + " " + disk.resolve("saved"))
                        .split(" "))) {
            run.restOfLine("[0] generation 0 saved step ");
            fill(Path.of("/proc/" + run.pid() + "/root" + disk + "/filler"), run);

            run.restOfLine("[0] generation 1 saved step ");
            Files.createFile(end());
            assertEquals(0, run.exitCode(), run::toString);
            run.assertErr("No space left on device");
            assertTrue(
                    run.errText()
                            .matches(
                                    "(?s).*\nferro: +generation 0: [0-9.]+ s, rank [01] .*, last checkpoint step [0-9]+\n"
                                            + "ferro: +generation 1: [0-9.]+ s, all ranks ended with exit code 0, last checkpoint"
                                            + " step [0-9]+"),
                    run::toString);
        }
    }

    /** Fills the disk until the job says that it starts again, and makes room. */
    private static void fill(Path file, LauncherRun run) throws IOException {
        ByteBuffer page = ByteBuffer.allocate(4096);
        try (FileChannel filler = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            Processes.await(
                    () -> {
                        fillOnce(filler, page);
                        return run.errText().contains("ferro: generation 1 of at most 3 starts in 1s: ");
                    },
                    SOON,
                    "a full disk has ended no generation");
        }
        Files.delete(file);
    }

    private static void fillOnce(FileChannel filler, ByteBuffer page) {
        try {
            while (true) {
                filler.write(page.clear());
            }
        } catch (IOException full) {
            assertTrue(full.getMessage().contains("No space left"), full::toString);
        }
    }

    @Test
    @DisplayName("row 52: a rank that stays stopped past the deadline starts the job again")
    @Tag("long")
    void aRankStoppedBeyondTheDeadlineRestartsTheJob() throws Exception {
        try (LauncherRun run = LauncherRun.start(
                Map.of("TMPDIR", folder.toString(), "FERRO_TIMEOUT", "3s"), sums("run -n 3 --restarts 3"))) {
            awaitSums(run, 0, 0);
            long stopped = awaitSums(run, 1, 0);
            Processes.signal(stopped, "STOP");

            run.awaitErrLine("ferro: generation 1 of at most 3 starts in 1s: ");
            awaitSums(run, 1, 1);
            Processes.awaitEnd(stopped, SOON);
            Files.createFile(end());
            assertEquals(0, run.exitCode(), run::toString);
            assertFalse(run.outLines().toString().contains("wrong"), run::toString);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "exit 2 | 2 | exit code 2 means wrong input, which a restart does not change | 1",
                "exit 7 | 7 | no rank joined in 2 generations in a row | 2",
            })
    @DisplayName("row 52: wrong input, and ranks that never join, end the job")
    void failuresThatARestartCannotRepairEndTheJob(String command, int code, String why, int generations)
            throws Exception {
        LauncherRun run = run(
                        "run", "-n", "1", "--restarts", "5", "--", "sh", "-c", "echo g=$FERRO_GENERATION; " + command)
                .ends(code);
        run.assertErr("ferro: the job does not start again: " + why);
        assertEquals(List.of("[0] g=0", "[0] g=1").subList(0, generations), run.outLines(), run::toString);
    }

    /** Rank 1 fails first. Rank 0 ends only when its launcher ends it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | '' | 2 | ferro: the job does not start again: exit code 2 means wrong input",
                "7 | exit 2 | 7 | ferro: generation 1 of at most 5 starts in 1s: rank 1 ended with exit code 7",
            })
    void theExitCodeOfTheFirstFailedRankDecides(int first, String atTerm, int code, String line) throws Exception {
        String other = "trap '" + atTerm + "' TERM; touch up; while :; do sleep 0.05; done";
        String program = "cd " + folder + "; if [ $RANK = 0 ]; then " + other
                + "; fi; until [ -e up ]; do sleep 0.02; done; exit " + first;
        LauncherRun run = run("run", "-n", "2", "--restarts", "5", "--", "sh", "-c", program)
                .ends(code);
        run.assertErr(line);
    }

    /** Rank 1 is stopped before it joins. Only the other ranks can say why they end, and none of them is the cause. */
    @Test
    @Tag("long")
    void aRankThatDoesNotJoinIsNamedAsTheCause() throws Exception {
        String java = Jvm.java() + " -cp '" + LauncherRun.classPath() + "' " + SumsOfGenerations.class.getName();
        // long enough for the others to join on a busy machine
        String stops = "if [ $FERRO_GENERATION = 0 ]; then export FERRO_JOIN_TIMEOUT=20s;"
                + " if [ $RANK = 1 ]; then kill -STOP $$; fi; fi; ";
        try (LauncherRun run = LauncherRun.words(
                Map.of("TMPDIR", folder.toString()),
                "run -n 3 --grace 1s --restarts 1 -- sh -c",
                stops + "exec " + java + " " + end())) {
            run.awaitErrLine("ferro: generation 1 of at most 1 starts in 1s: rank 1 did not join; rank ");
            awaitSums(run, 1, 1);
            Files.createFile(end());

            assertEquals(0, run.exitCode(), run::toString);
            assertTrue(
                    run.errText().matches("(?s).*\nferro: +generation 0: [0-9.]+ s, rank 1 did not join; rank .*"),
                    run::toString);
        }
    }

    @Test
    void aSignalWhileRanksRunEndsTheJob() throws Exception {
        try (LauncherRun run = run("run", "-n", "1", "--restarts", "5", "--", "sh", "-c", "echo up; exec sleep 60")) {
            run.restOfLine("[0] up");
            run.signal("TERM");

            assertEquals(143, run.exitCode(), run::toString);
            assertFalse(run.errText().contains(" starts in "), run::toString);
        }
    }

    @Test
    @DisplayName("row 52: a signal to a launcher that waits for the next generation ends the job")
    void aSignalDuringTheRestartDelayEndsTheJob() throws Exception {
        try (LauncherRun run = run("run", "-n", "1", "--restarts", "5", "--", "sh", "-c", "echo up; exit 7")) {
            run.awaitErrLine("generation 1 of at most 5 starts in 1s");
            run.signal("TERM");

            assertEquals(143, run.exitCode(), run::toString);
            run.assertErr("node 0 was ended by signal TERM before generation 1 was started");
            assertEquals(List.of("[0] up"), run.outLines());
        }
    }

    @Test
    @DisplayName("row 53: a process of an earlier generation that wakes up is refused and told once")
    @Tag("long")
    void aProcessOfAnEarlierGenerationIsRefused() throws Exception {
        String java = Jvm.java() + " -cp '" + LauncherRun.classPath() + "' ";
        String sums = java + SumsOfGenerations.class.getName() + " " + end();
        // in a session of its own, which the launcher does not reach; the launcher deletes the file of the secret
        Path script = Files.writeString(
                folder.resolve("late"),
                "cd " + folder + "; cp $FERRO_SECRET_FILE secret; export FERRO_SECRET_FILE=$PWD/secret; echo $$ >pid;"
                        + " mv pid ready; until [ -e go ]; do sleep 0.02; done; " + sums + " >out 2>&1; mv out told");
        String late = "if [ $FERRO_GENERATION$RANK = 01 ]; then setsid sh " + script + " & until [ -e " + folder
                + "/ready ]; do sleep 0.02; done; fi; exec ";
        try (LauncherRun run = run("run", "-n", "2", "--restarts", "3", "--", "sh", "-c", late + sums)) {
            long killed = awaitSums(run, 0, 0);
            long straggler =
                    Long.parseLong(Files.readString(folder.resolve("ready")).strip());
            Processes.signal(straggler, "STOP");
            try {
                Processes.kill(killed);
                awaitSums(run, 1, 1);
                Files.createFile(folder.resolve("go"));
            } finally {
                Processes.signal(straggler, "CONT");
            }
            Path told = folder.resolve("told");
            Processes.await(() -> Files.exists(told), SOON, "the late process was told nothing");

            String text = Files.readString(told);
            String refused = "RENDEZVOUS: .*this is job \"[0-9a-f]+\\.1\", you belong to job \"[0-9a-f]+\\.0\"";
            // a rank that starts slowly logs a line about that first
            assertTrue(text.matches("(?s)([^\n]* ferro.join\n[^\n]*\n)*[^\n]*" + refused + ".*"), text);
            run.awaitErrLine("ferro: refused a process of generation 0 at 127.0.0.1: generation 1 runs now");
            Files.createFile(end());
            assertEquals(0, run.exitCode(), run::toString);
            Processes.awaitEnd(straggler, SOON);
        }
    }

    @Test
    @DisplayName("row 53: a stopped rank of an earlier generation that goes on ends and changes no sum")
    @Tag("long")
    void aStoppedRankOfAnEarlierGenerationChangesNoSum() throws Exception {
        String java = Jvm.java() + " -cp '" + LauncherRun.classPath() + "' " + SumsOfGenerations.class.getName() + " "
                + end();
        // a rank in a session of its own, which its launcher does not reach
        String escapes =
                "if [ $FERRO_GENERATION$RANK = 01 ]; then setsid " + java + " & wait; else exec " + java + "; fi";
        try (LauncherRun run = run("run", "-n", "2", "--restarts", "3", "--", "sh", "-c", escapes)) {
            long killed = awaitSums(run, 0, 0);
            long straggler = awaitSums(run, 1, 0);
            Processes.signal(straggler, "STOP");
            try {
                Processes.kill(killed);
                awaitSums(run, 1, 1);
            } finally {
                Processes.signal(straggler, "CONT");
            }

            Processes.awaitEnd(straggler, SOON);
            Files.createFile(end());
            assertEquals(0, run.exitCode(), run::toString);
            assertTrue(run.outLines().contains("[1] done in generation 1"), run::toString);
            assertFalse(run.outLines().toString().contains("wrong"), run::toString);
        }
    }
}
