package ferro.launcher;

import static ferro.launcher.JobOutcomes.ended;
import static ferro.launcher.JobOutcomes.outcome;
import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import ferro.launcher.analyze.ProcessEnds;
import ferro.launcher.analyze.ProcessEnds.EndKind;
import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import ferro.launcher.output.RankOutput;
import ferro.launcher.program.RecordingsFolder;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PostmortemTest {
    private static final String MAIN = "Exception in thread \"main\" ";

    @TempDir
    private Path folder;

    @Test
    void ranksThatFailedForOneReasonShareALine() throws IOException {
        JobOutcome outcome = outcome(List.of(ended(2, 1), ended(0, 1), ended(3, 1), ended(1, 7)), List.of(), Set.of());
        String box = box(
                outcome,
                printed(0, MAIN + "ferro.FerroException: ABORTED: allReduce on group \"world\" rank 0 seq 4: rank 2 x"),
                printed(1),
                printed(2, MAIN + "java.lang.IllegalStateException: no data", "\tat app.Main.main(Main.java:3)"),
                printed(3, MAIN + "ferro.FerroException: ABORTED: barrier on group \"world\" rank 3 seq 4: rank 2 x"));

        assertHas(box, "\n| failed after it: ranks 0, 3: ABORTED: rank 2 x\n");
        assertHas(box, "\n| failed after it: rank 1: exit code 7\n");
        assertHas(box, "exception of rank 2:\n|   " + MAIN + "java.lang.IllegalState");
        assertLacks(box, "ferro.FerroException");
    }

    @Test
    void ranksWhoseReasonsDifferOnlyInTheRankShareALine() throws IOException {
        JobOutcome outcome = outcome(List.of(ended(1, 1), ended(0, 1), ended(2, 1), ended(3, 1)), List.of(), Set.of());
        String lost = MAIN + "ferro.FerroException: PEER_LOST: barrier on group \"world\" rank ";

        String themselves = box(
                outcome,
                printed(0, lost + "0 seq 4: rank 1 has left, while rank 0 is in barrier"),
                printed(1),
                printed(2, lost + "2 seq 4: rank 1 has left, while rank 2 is in barrier"),
                printed(3, lost + "3 seq 4: rank 1 has left, while rank 3 is in barrier"));
        String oneOfThem = box(
                outcome,
                printed(0, lost + "0 seq 4: rank 1 is gone (seen by rank 0)"),
                printed(1),
                printed(2, lost + "2 seq 4: rank 1 is gone (seen by rank 0)"),
                printed(3, lost + "3 seq 4: rank 1 is gone (seen by rank 0)"));

        assertHas(themselves, "ranks 0, 2, 3: PEER_LOST: rank 1 has left, while this rank is in barrier\n");
        assertHas(oneOfThem, "ranks 0, 2, 3: PEER_LOST: rank 1 is gone (seen by rank 0)\n");
    }

    @Test
    void reasonsAreWrappedInsteadOfCut() throws IOException {
        JobOutcome outcome = outcome(List.of(ended(1, 1), ended(0, 1)), List.of(), Set.of());
        String box = box(
                outcome,
                printed(0, MAIN + "java.lang.Error: " + "word ".repeat(90) + "end", "\tat app.Main.main(Main.java:3)"),
                printed(1));

        assertHas(box, "word end\n");
        assertLacks(box, " ...");
        assertTrue(box.lines().allMatch(line -> line.length() <= 120), box);
        assertLacks(box, "Main.java");
    }

    @Test
    void framesInTheFailureAreShownIfTheCulpritPrintedNone() throws Exception {
        String text = "rank 1 aborted the group: java.lang.Error: no data\n    at app.Main.load(Main.java:9)"
                + "\n    at java.base/java.lang.Thread.run(Thread.java:840)\n  caused by java.io.IOException: disk";
        recording(0, "ABORTED", List.of(1), text);
        JobOutcome outcome = outcome(List.of(ended(1, 1), ended(0, 1)), List.of(), Set.of());

        String silent = box(outcome, printed(0), printed(1));
        String printed =
                box(outcome, printed(0), printed(1, MAIN + "java.lang.Error: no data", "\tat app.Main.load()"));

        String reported = "|   rank 0 reports: ABORTED";
        assertHas(
                silent,
                reported + ": rank 1 aborted the group: java.lang.Error: no data\n"
                        + "|       at app.Main.load(Main.java:9)\n|       ... 1 frame of the JDK\n|     caused by"
                        + " java.io.IOException: disk\n");
        assertHas(printed, reported + "\n| failed because of it: rank 0\n");
    }

    @Test
    void theExceptionOfTheCulpritIsPrintedOnce() throws Exception {
        String left =
                "rank 1 left group \"world\" after seq 3; this call is seq 4 (barrier): if rank 1 should have taken"
                        + " part, its own output may say why it left";
        for (int rank = 0; rank < 3; rank++) {
            recording(rank, "PEER_LOST", List.of(1), left);
        }
        JobOutcome outcome = outcome(List.of(ended(1, 1), ended(0, 1), ended(2, 1)), List.of(), Set.of());
        String lost = MAIN + "ferro.FerroException: PEER_LOST: barrier on group \"world\" rank ";

        String box = box(
                outcome,
                printed(0, lost + "0 seq 4: " + left),
                printed(1, MAIN + "java.lang.IllegalStateException: no data", "\tat app.Main.main(Main.java:3)"),
                printed(2, lost + "2 seq 4: " + left));

        assertHas(
                box,
                "\n| diagnosis: rank 1 is to blame: it threw the exception below; it made no call in that"
                        + " group before\n"
                        + "|   ranks 0, 2 agree: PEER_LOST\n"
                        + "| failed because of it: ranks 0, 2\n"
                        + "| exception of rank 1:\n"
                        + "|   " + MAIN + "java.lang.IllegalStateException: no data\n");
        assertEquals(1, box.split("no data", -1).length - 1, box);
        assertLacks(box, "left");
    }

    @Test
    void aFailureInTheDiagnosisIsNotRepeated() throws Exception {
        String silent =
                "nothing heard from rank 1 (pid 1001 on host h) for 3.0 s, limit ferro.heartbeat.limit 3.0 s: its"
                        + " process hangs or is stopped, or the network to it is cut";
        recording(0, "PARTITION", List.of(1), silent);
        Map<Integer, Long> halted = Map.of(1, 1001L);
        JobOutcome outcome = new JobOutcome(
                List.of(ended(0, 1)), List.of(), Set.of(1), System.nanoTime(), halted, null, null, Map.of(), null);

        String box = box(
                outcome,
                printed(
                        0,
                        MAIN + "ferro.FerroException: PARTITION: barrier on group \"world\" rank 0 seq 4: " + silent),
                printed(1));

        assertHas(
                box,
                "\n| diagnosis: rank 1 is to blame: its process was suspended by a signal (SIGSTOP, ctrl-Z, a"
                        + " debugger)\n|   rank 0 reports: PARTITION: nothing heard from rank 1 (pid 1001 on host h) for"
                        + " 3.0 s, limit ferro.heartbeat.limit\n|   3.0 s\n| kill -s CONT 1001 would have resumed rank 1\n");
        assertLacks(box, "exception of rank 0", "stopped because");
    }

    @Test
    void aRankThatExitsAfterCatchingTheFailureFailedBecauseOfIt() throws Exception {
        recording(0, "PEER_LOST", List.of(1), "rank 1 is gone");
        recording(2, "PEER_LOST", List.of(1), "rank 1 is gone");
        JobOutcome outcome = outcome(List.of(ended(1, 137), ended(0, 1), ended(2, 3)), List.of(), Set.of());

        String box = box(outcome, printed(0), printed(1), printed(2));

        assertHas(box, "\n| failed because of it: ranks 0, 2\n");
        assertLacks(box, "failed after it");
    }

    @Test
    void theCulpritAndTheFirstFailedRankAreShownWithHostAndPid() throws Exception {
        recording(0, "TIMED_OUT", List.of(2), "gave up on rank 2");
        JobOutcome outcome = outcome(List.of(ended(0, 1)), List.of(), Set.of(1, 2));

        String box = box(outcome, printed(0), printed(1), printed(2));

        assertHas(
                box,
                "| ferro: rank 2 is to blame; rank 0 failed first: exit code 1\n"
                        + "| rank 0: host a, pid 1000, 1.5 s after the start\n"
                        + "| rank 2: host a, pid 1002\n");
    }

    @Test
    void culpritsAndFailedRanksAreNotListedAsStopped() throws Exception {
        recording(0, "TIMED_OUT", List.of(2), "gave up on rank 2");
        JobOutcome outcome = outcome(List.of(ended(0, 1), ended(3, 143)), List.of(), Set.of(1, 2, 3));

        String box = box(
                outcome,
                printed(0, MAIN + "ferro.FerroException: TIMED_OUT: barrier on group \"world\" rank 0 seq 4: gave up"),
                printed(1),
                printed(2),
                printed(3, MAIN + "ferro.FerroException: TIMED_OUT: barrier on group \"world\" rank 3 seq 4: gave up"));

        assertHas(
                box,
                "\n| failed because of it: rank 3\n"
                        + "| rank 2 was still running: its launcher has ended it\n"
                        + "| stopped because of it: rank 1\n");
    }

    @Test
    void theCulpritIsNotListedAmongTheRanksThatFailedAfterwards() throws Exception {
        recording(0, "ABORTED", List.of(1, 2), "ranks 1, 2 aborted the group");
        JobOutcome outcome = outcome(List.of(ended(1, 1), ended(2, 1), ended(0, 1)), List.of(), Set.of());
        String box = box(
                outcome,
                printed(0, MAIN + "ferro.FerroException: ABORTED: barrier on group \"world\" rank 0 seq 4: rank 1 x"),
                printed(1, MAIN + "java.lang.Error: no data", "\tat app.Main.load()"),
                printed(2, MAIN + "java.lang.Error: no data", "\tat app.Main.load()"));

        assertHas(box, "| diagnosis: ranks 1, 2 are to blame: they threw the exception below, and aborted the group");
        assertHas(box, "\n| failed because of it: rank 0\n");
        assertLacks(box, "failed after it");
    }

    private void recording(int rank, String code, List<Integer> culprits, String text) throws IOException {
        Map<String, Object> failure =
                Map.of("code", code, "culprits", culprits, "sequence", 4, "origin", 1, "text", text);
        Map<String, Object> recording = JobOutcomes.recording(rank, List.of(0, 1, 2), failure);
        Files.writeString(folder.resolve("ferro-job-rank" + rank + ".json"), new Gson().toJson(recording));
    }

    @Test
    void theDiagnosisHasTheExitsThatTheLauncherDetected() {
        JobOutcome outcome =
                outcome(List.of(ended(1, 1), ended(2, 137), ended(3, 7), ended(4, 1)), List.of(ended(0, 0)), Set.of(4));

        List<RankOutput> printed = List.of(printed(0), printed(1, MAIN + "java.lang.IllegalStateException: no data"));
        ProcessEnds ends = NodeReport.of(outcome, printed, new RecordingsFolder(folder, false, Map.of()), 0)
                .ends(outcome.stoppedNanos());

        assertEquals(
                Map.of(
                        0, new ProcessEnd(EndKind.WELL, ""),
                        1, new ProcessEnd(EndKind.THREW, "java.lang.IllegalStateException: no data"),
                        2, new ProcessEnd(EndKind.SIGNAL, "ended by signal KILL (exit code 137)"),
                        3, new ProcessEnd(EndKind.CODE, "exit code 7"),
                        4, new ProcessEnd(EndKind.STOPPED, "")),
                ends.byRank());
        assertTrue(Math.abs(ends.stoppedWallNanos().get(1) - System.currentTimeMillis() * 1_000_000) < 60_000_000_000L);
    }

    private static RankOutput printed(int rank, String... trace) {
        return new RankOutput(rank, 1000 + rank, List.of(trace), List.of());
    }

    private String box(JobOutcome outcome, RankOutput... printed) {
        Postmortem postmortem = JobOutcomes.alone(outcome, List.of(printed), folder);
        return String.join("\n", postmortem.box(1.5).lines(120));
    }
}
