package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("text")
class LauncherOutputTest {
    @TempDir
    private Path folder;

    @Test
    void everyLineHasItsRankOnItsOwnStream() throws Exception {
        LauncherRun run = LauncherRun.start(
                        "run", "-n", "3", "--", "sh", "-c", "echo out $RANK; echo err $RANK >&2; printf 'no end'")
                .ends(0);
        assertEquals(
                List.of("[0] no end", "[0] out 0", "[1] no end", "[1] out 1", "[2] no end", "[2] out 2"),
                run.outLines().stream().sorted().toList());
        assertTrue(run.errLines().containsAll(List.of("[0] err 0", "[1] err 1", "[2] err 2")), run.errText());
        assertTrue(run.errLines().get(0).startsWith("ferro: 3 ranks on "), run.errText());
    }

    @Test
    void theLoopThatWaitsForRanksIsFourFramesBelowTheStart() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "1", "--", "sh", "-c", "echo started; exec sleep 60")) {
            run.await("[0] started");
            String jcmd =
                    Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
            String stacks = Child.run(0, new ProcessBuilder(jcmd, "" + run.pid(), "Thread.print"));
            List<String> calls = Pattern.compile("at ferro\\.launcher\\.(\\S+)\\(")
                    .matcher(stacks)
                    .results()
                    .map(found -> found.group(1))
                    .toList();
            assertEquals(
                    List.of("rank.Supervisor.await", "GenerationRun.run", "Job.generation", "Job.run"),
                    calls.subList(calls.indexOf("rank.Supervisor.await"), 1 + calls.indexOf("Job.run")));
        }
    }

    @Test
    void longLinesOfManyRanksAreNotMixed() throws Exception {
        String program = "i=0; while [ $i -lt 200 ]; do printf '%3000d\\n' $RANK; i=$((i+1)); done";
        LauncherRun run =
                LauncherRun.start("run", "-n", "4", "--", "sh", "-c", program).ends(0);
        assertEquals(800, run.outLines().size());
        for (String line : run.outLines()) {
            assertEquals(3004, line.length(), line);
            assertEquals(line.charAt(1), line.charAt(line.length() - 1), line);
        }
    }

    @Test
    void aSlowReaderGetsTheLastLinesOfEndedRanks() throws Exception {
        // fits into the rank's own pipe, so that the rank can end, and not into the launcher's
        String program = "seq -f 'line %04g of this program' 1 2400; : >\"$ENDING.$RANK\"";
        LauncherRun run = readLate(2, program).ends(0);
        for (String rank : List.of("[0]", "[1]")) {
            List<String> lines = run.outLines().stream()
                    .filter(line -> line.startsWith(rank))
                    .toList();
            assertEquals(2400, lines.size(), rank);
            assertEquals(rank + " line 2400 of this program", lines.get(2399));
        }
    }

    @Test
    @Tag("long")
    void aSlowReaderGetsTheOutputOfAChildOfARank() throws Exception {
        // first what pipes hold, yet more than the child's own, then more than they hold: the child goes on when its
        // rank has ended and the reader begins
        String child = "line() { seq -f 'line %05g of a child' $1 $2; }; "
                + "{ line 1 4000; : >\"$ENDING.part\"; line 4001 9000; } & ";
        String program = child + "while [ ! -e \"$ENDING.part\" ]; do sleep 0.1; done; : >\"$ENDING.$RANK\"";
        LauncherRun run = readLate(1, program).ends(0);
        assertEquals(9_000, run.outLines().size());
        assertEquals("[0] line 09000 of a child", run.outLines().get(8_999));
    }

    /** Starts ranks that make a file before they end, and a reader that begins a second after the last of these files. */
    private LauncherRun readLate(int ranks, String program) throws IOException {
        Map<String, String> ending = Map.of("ENDING", folder.resolve("ending").toString());
        String late = "while [ ! -e \"$ENDING.%d\" ]; do sleep 0.1; done; ";
        String reader = String.format(late, 0) + String.format(late, ranks - 1) + "sleep 1; cat";
        String script = "\"$0\" \"$@\" | { " + reader + "; }";
        return LauncherRun.inShell(script, ending, "run", "-n", "" + ranks, "--", "sh", "-c", program);
    }

    @Test
    void aLineIsShownBeforeTheRankEnds() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "1", "--", "sh", "-c", "echo here; sleep 100")) {
            assertEquals("", run.restOfLine("[0] here"));
        }
    }

    @Test
    void theLogFolderHasTheOutputOfEveryRank() throws Exception {
        Path logs = folder.resolve("a/logs");
        LauncherRun.words(Map.of(), "run -n 2 --log-dir " + logs + " -- sh -c", "echo o$RANK; echo e$RANK >&2")
                .ends(0);

        assertEquals("o0\n", Files.readString(logs.resolve("rank-0.log")));
        assertEquals("e0\n", Files.readString(logs.resolve("rank-0.err")));
        assertEquals("o1\n", Files.readString(logs.resolve("rank-1.log")));
        assertEquals("e1\n", Files.readString(logs.resolve("rank-1.err")));
    }

    @Test
    @DisplayName("row 49: a full disk under --log-dir is one warning")
    void aFullDiskUnderTheLogFolderCausesOneWarning() throws Exception {
        for (String name : List.of("rank-0.log", "rank-1.log", "rank-1.err")) {
            Files.createSymbolicLink(folder.resolve(name), Path.of("/dev/full"));
        }
        String program = "echo o$RANK; echo e$RANK >&2; exec >&- 2>&-; : >\"$ENDING.$RANK\"";
        LauncherRun run = LauncherRun.words(
                        Map.of("ENDING", folder.resolve("ending").toString()),
                        "run -n 2 --log-dir " + folder + " -- sh -c",
                        program)
                .ends(0);
        assertEquals(
                List.of("[0] o0", "[1] o1"), run.outLines().stream().sorted().toList());
        assertTrue(run.errLines().containsAll(List.of("[0] e0", "[1] e1")), run.errText());
        List<String> warnings =
                run.errLines().stream().filter(line -> line.contains("WARNING")).toList();
        assertEquals(1, warnings.size(), run::errText);
        assertTrue(warnings.get(0).contains("No space left on device"), run::errText);

        assertTrue(Files.exists(folder.resolve("ending.0")) && Files.exists(folder.resolve("ending.1")));
        assertEquals("e0\n", Files.readString(folder.resolve("rank-0.err")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"2>&1 >&3 3>&- | :", "2>/dev/full", "2>&-"})
    @DisplayName("row 49: standard error that nobody reads ends no job")
    @Tag("long")
    void unreadStandardErrorDoesNotEndTheJob(String without) throws Exception {
        String script = "{ { \"$0\" \"$@\"; echo code $?; } " + without + "; } 3>&1";
        String program = "i=0; while [ $i -lt 20 ]; do echo err $i >&2; i=$((i+1)); done; echo out; exit 5";
        try (LauncherRun run = LauncherRun.inShell(script, Map.of(), "run", "-n", "1", "--", "sh", "-c", program)) {
            run.exitCode();

            assertEquals(List.of("[0] out", "code 5"), run.outLines(), run::toString);
        }
    }

    @Test
    @DisplayName("row 49: standard output on a full disk is one warning")
    @Tag("long")
    void closedStandardOutputEndsTheJobButAFullDiskDoesNot() throws Exception {
        String program = "echo out; echo more; echo err >&2";
        try (LauncherRun run = LauncherRun.inShell(
                "{ \"$0\" \"$@\"; echo code $? >&2; } | :", Map.of(), "run", "-n", "1", "--", "sh", "-c", program)) {
            run.exitCode();
            assertTrue(run.errLines().contains("code 141"), run::toString);
        }
        LauncherRun run = LauncherRun.inShell(
                        "exec \"$0\" \"$@\" >/dev/full", Map.of(), "run", "-n", "2", "--", "sh", "-c", program)
                .ends(0);
        assertEquals(
                1,
                run.errLines().stream().filter(line -> line.contains("WARNING")).count(),
                run::toString);
    }

    @Test
    void everyRankHasItsVariablesAndAnEmptyInput() throws Exception {
        String program = "read line; echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR"
                + " $FERRO_BACKEND ${#FERRO_JOB_ID} $([ $MASTER_PORT -gt 0 ] && echo port) \"<$line>\"";
        LauncherRun run = LauncherRun.start("run", "-n", "2", "--backend", "tcp", "--", "sh", "-c", program)
                .ends(0);
        assertEquals(
                List.of("[0] 0 2 0 2 127.0.0.1 tcp 16 port <>", "[1] 1 2 1 2 127.0.0.1 tcp 16 port <>"),
                run.outLines().stream().sorted().toList());
    }

    @Test
    void theSecretIsInAPrivateFileAndOnNoCommandLine() throws Exception {
        String program = "ls -ln $FERRO_SECRET_FILE | cut -c1-10; echo secret $(cat $FERRO_SECRET_FILE); sleep 100";
        try (LauncherRun run = LauncherRun.start("run", "-n", "1", "--", "sh", "-c", program)) {
            assertEquals("", run.restOfLine("[0] -rw-------"));
            String secret = run.restOfLine("[0] secret ");

            assertEquals(64, secret.length());
            for (ProcessHandle process : ProcessHandle.allProcesses().toList()) {
                Path place = Path.of("/proc", "" + process.pid());
                assertFalse(SecretsTest.text(place.resolve("cmdline")).contains(secret), process::toString);
                assertFalse(SecretsTest.text(place.resolve("environ")).contains(secret), process::toString);
            }
        }
    }

    @Test
    void aMainClassRunsOnTheGivenClassPath() throws Exception {
        String program = PrintsItsRank.class.getName();
        LauncherRun run = LauncherRun.words(Map.of(), "run -n 2 -J-Dx=y -cp", LauncherRun.classPath(), program, "--a")
                .ends(0);
        assertEquals(
                List.of("[0] rank 0 of 2 x=y [--a]", "[1] rank 1 of 2 x=y [--a]"),
                run.outLines().stream().sorted().toList());
        assertTrue(run.errLines().contains("[0] INFO ferro.test: waiting for ranks [1] of 2"), run.errText());
    }
}
