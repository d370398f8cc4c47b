package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the last thing on the screen says of a job of which one rank has failed: whom it names, and why. */
@Timeout(120)
@Tag("text")
class LauncherBlameTest {
    /** Deadline of ranks one of which will be stopped: longer than the others are kept from a core before that. */
    private static final String NOT_TOO_SOON = "PT5S";

    private static final Pattern PIDS = Pattern.compile("rank (\\d+) = pid (\\d+)");
    /** One more that was kept from its core for long may not have answered in time. */
    private static final Pattern STOPPED =
            Pattern.compile("(rank 1|ranks (\\[0, 1]|\\[1, 2]|0-1|1-2)) (is|are) to blame");
    /** A rank that failed because rank 1 had left was gone before rank 1 was. */
    private static final Pattern RELEASED_FIRST =
            Pattern.compile("ferro: rank 1 is to blame; rank [02] failed first: exit code 1");

    @TempDir
    private Path temporary;

    @Test
    @DisplayName("row 19: a rank that leaves by exit(0) is named, and the launcher's exit code is not 0")
    @Tag("long")
    void aRankThatLeavesEarlyIsNamed() throws Exception {
        try (LauncherRun run = start("leaves", "PT30S")) {
            assertShare(run);
            assertNotEquals(0, run.exitCode(), run::toString);

            String box = LauncherRun.box(run);
            String flat = flat(box);
            // a JVM that exits takes time, in which those whose calls it has failed may end before it
            boolean endedFirst =
                    box.contains("ferro: rank 1 ended too early: exit code 0, but other ranks still needed it");
            assertTrue(endedFirst || RELEASED_FIRST.matcher(flat).find(), box);
            String others = "(the others|rank [02])";
            String ended = "it ended with exit code 0 before close, at \\w+\\.java:\\d+, before " + others
                    + " had finished allReduce seq ";
            String left = "it left, although " + others + " (was|were) in allReduce seq ";
            assertTrue(flat.matches("(?s).*diagnosis: rank 1 is to blame: " + (endedFirst ? ended : left) + ".*"), box);
            assertFalse(flat.contains("killed") || flat.contains("crashed"), box);
            assertTrue(box.contains("PEER_LOST"), box);
        }
    }

    @Tag("long")
    @Test
    @DisplayName(
            "row 20: ranks that go on hear that the rank that threw inside try has left, and the box why: the trace of"
                    + " that rank comes first, with all frames of its program")
    void aRankThatThrowsInsideTryIsBlamedWithItsException() throws Exception {
        try (LauncherRun run = start("throws", "PT30S")) {
            assertShare(run);
            assertEquals(1, run.exitCode(), run::toString);

            String box = LauncherRun.box(run);
            assertTrue(box.contains("ferro: rank 1 failed first: exit code 1"), box);
            int trace =
                    box.indexOf("|   Exception in thread \"main\" java.lang.IllegalStateException: no data for rank 1");
            assertTrue(trace > 0, box);
            assertTrue(box.indexOf("FailsInOneRank.main(", trace) > trace, box);
            String flat = flat(box);
            // a rank that receives the failure between two calls is in no call
            assertTrue(
                    flat.matches("(?s).*diagnosis: rank 1 is to blame: it threw the exception below, while"
                            + " (the others were|rank [02] was) in allReduce seq .*"),
                    box);
            assertTrue(flat.contains(" ranks 0, 2 agree: PEER_LOST failed because of it: ranks 0, 2 "), box);
            assertEquals(1, box.split("no data for rank 1", -1).length - 1, "told more than once: " + box);
            assertFalse(flat.contains("its own output may say why"), box);
            assertFalse(box.contains("at ferro.group."), box);
        }
    }

    @Test
    @DisplayName("row 20: a rank whose main throws with the group open aborts it with what it threw")
    @Tag("long")
    void aRankThatThrowsWithAnOpenGroupAbortsTheGroup() throws Exception {
        try (LauncherRun run = start("throwsWithTheGroupOpen", "PT30S")) {
            assertShare(run);
            assertEquals(1, run.exitCode(), run::toString);

            String box = flat(LauncherRun.box(run));
            // a rank that is told of the abort may end before the rank that aborts has written what it threw
            assertTrue(
                    box.matches(
                            "(?s).*ferro: rank 1 (failed first|is to blame; rank [02] failed first): exit code 1 .*"),
                    box);
            assertTrue(
                    box.matches("(?s).*diagnosis: rank 1 is to blame: it (threw the exception below, and"
                            + " )?aborted the group after allReduce seq .*"),
                    box);
            assertTrue(box.contains("ranks 0, 2 agree: ABORTED"), box);
            // on a busy machine the launcher may stop rank 1 before it has printed its exception
            boolean isCut = box.contains("rank 1 was still running: its launcher has ended it");
            assertTrue(isCut || box.indexOf("exception of rank 1:") < box.indexOf("FailsInOneRank."), box);
            for (int rank : List.of(0, 2)) {
                String aborted =
                        "[" + rank + "] Exception in thread \"main\" ferro.FerroException: ABORTED: allReduce on"
                                + " group \"world\" rank " + rank;
                assertTrue(
                        run.errLines().stream()
                                .anyMatch(line -> line.startsWith(aborted)
                                        && line.endsWith("rank 1 aborted the group: java.lang.IllegalStateException:"
                                                + " no data for rank 1")),
                        run::toString);
            }
        }
    }

    @Test
    @DisplayName("row 1: the launcher names the rank that was killed, its signal, and what the others were in")
    void aRankThatIsKilledIsNamedWithItsSignal() throws Exception {
        try (LauncherRun run = start("behaves", "PT30S")) {
            assertShare(run);
            run.restOfLine("[1] going");
            long victim = pid(run, 1);
            TwoSeconds stopping = TwoSeconds.start("ranks in a collective");
            Processes.kill(victim);

            assertEquals(137, run.exitCode(), run::toString);
            stopping.check();
            String box = LauncherRun.box(run);
            assertTrue(box.contains("ferro: rank 1 failed first: ended by signal KILL"), box);
            assertTrue(box.contains("pid " + victim), box);
            assertTrue(box.contains("diagnosis: rank 1 is to blame: its process is gone"), box);
            Path recordings = Path.of(box.substring(box.indexOf("./ferro analyze ") + "./ferro analyze ".length())
                    .lines()
                    .findFirst()
                    .orElseThrow());
            assertEquals(temporary, recordings.getParent());
            analyzed(recordings);
        }
    }

    private void analyzed(Path recordings) throws Exception {
        LauncherRun run = LauncherRun.start("analyze", recordings.toString()).ends(0);
        String first = run.outLines().get(0);
        assertTrue(first.startsWith("verdict: rank 1 is to blame: its process is gone"), first);
        assertTrue(Files.size(recordings.resolve("ferro-timeline.html")) > 10_000);
    }

    @Test
    @DisplayName("row 4: the launcher names a rank that was stopped, with the way to let it go on, and ends")
    @Tag("long")
    void aRankThatIsStoppedIsNamedAtTheDeadline() throws Exception {
        try (LauncherRun run = start("behaves", NOT_TOO_SOON)) {
            assertShare(run);
            run.restOfLine("[1] going");
            Processes.signal(pid(run, 1), "STOP");

            assertEquals(1, run.exitCode(), run::toString);
            String box = LauncherRun.box(run);
            assertTrue(STOPPED.matcher(box).find(), box);
            assertTrue(box.contains("was suspended by a signal"), box);
            assertTrue(box.contains("kill -s CONT " + pid(run, 1)), box);
        }
    }

    @Test
    @DisplayName("row 18: a rank of a job that hangs is named by ferro dump and ferro analyze while it hangs")
    @Tag("long")
    void aRankThatKeepsOthersWaitingIsNamedWhileTheyWait() throws Exception {
        Path recordings = temporary.resolve("mine");
        Map<String, String> variables = Map.of("FERRO_RECORDER_DIR", recordings.toString());
        try (LauncherRun run = LauncherRun.start(variables, arguments("sleeps", "PT60S"))) {
            assertShare(run);
            for (int rank = 0; rank < 3; rank++) {
                run.restOfLine("[" + rank + "] going");
            }
            String first = verdictWhileTheyWait(recordings);
            assertTrue(first.startsWith("verdict: rank 1 is to blame: it never called allReduce seq "), first);
            run.signal("TERM");
            assertEquals(143, run.exitCode(), run::toString);
        }
    }

    /** The others may be on their way into the call: asks until somebody waits. */
    private static String verdictWhileTheyWait(Path recordings) throws Exception {
        String first = "";
        while (!first.contains("rank 1 is to blame")) {
            LauncherRun.start("dump", recordings.toString()).ends(0);
            LauncherRun analyze =
                    LauncherRun.start("analyze", recordings.toString()).ends(0);
            first = analyze.outLines().get(0);
        }
        return first;
    }

    /** Ranks of one host share memory by default; docs/faults/annex.md says so of these tests. */
    private static void assertShare(LauncherRun run) throws InterruptedException {
        Links.SHM.assertFoundIn(run.restOfLine("[0] links: "), 3);
    }

    private LauncherRun start(String how, String deadline) throws Exception {
        // where the launcher makes its folders
        Map<String, String> variables = Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + temporary);
        return LauncherRun.start(variables, arguments(how, deadline));
    }

    private static String[] arguments(String how, String deadline) {
        return new String[] {"run", "-n", "3", "--no-bind", "ferro.integration.FailsInOneRank", how, deadline};
    }

    private static long pid(LauncherRun run, int rank) throws InterruptedException {
        run.awaitErrLine("rank 0 = pid ");
        Matcher pids = PIDS.matcher(run.errText());
        while (pids.find()) {
            if (pids.group(1).equals("" + rank)) {
                return Long.parseLong(pids.group(2));
            }
        }
        throw new AssertionError("no pid of rank " + rank + " among " + run);
    }

    /** The box without its left side and its line breaks. */
    private static String flat(String box) {
        return box.replaceAll("\n\\| *", " ");
    }
}
