package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.analyze.Ends;
import ferro.launcher.output.Json;
import ferro.launcher.output.RankOutput;
import ferro.launcher.program.Recordings;
import ferro.launcher.rank.Endings;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the end of a job says of its ranks, by how they ended and what they printed. */
class PostmortemTest {
    private static final String MAIN = "Exception in thread \"main\" ";

    @TempDir
    private Path folder;

    @Test
    void ranksThatFailedForOneReasonShareALine() throws IOException {
        Supervisor.JobOutcome outcome =
                outcome(List.of(ended(2, 1), ended(0, 1), ended(3, 1), ended(1, 7)), List.of(), Set.of());
        String box = box(
                outcome,
                printed(0, MAIN + "ferro.FerroException: ABORTED: allReduce on group \"world\" rank 0 seq 4: rank 2 x"),
                printed(1),
                printed(2, MAIN + "java.lang.IllegalStateException: no data", "\tat app.Main.main(Main.java:3)"),
                printed(3, MAIN + "ferro.FerroException: ABORTED: barrier on group \"world\" rank 3 seq 4: rank 2 x"));

        assertTrue(box.contains("\n| failed after it: ranks [0, 3]: ABORTED: rank 2 x\n"), box);
        assertTrue(box.contains("\n| failed after it: ranks [1]: exit code 7\n"), box);
        assertTrue(box.contains("exception of rank 2:\n|   " + MAIN + "java.lang.IllegalState"), box);
        assertFalse(box.contains("ferro.FerroException"), box);
    }

    @Test
    void ranksWhoseReasonsNameThemselvesOrOneOfThemShareALine() throws IOException {
        Supervisor.JobOutcome outcome =
                outcome(List.of(ended(1, 1), ended(0, 1), ended(2, 1), ended(3, 1)), List.of(), Set.of());
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

        assertTrue(
                themselves.contains("ranks [0, 2, 3]: PEER_LOST: rank 1 has left, while this rank is in barrier\n"),
                themselves);
        assertTrue(oneOfThem.contains("ranks [0, 2, 3]: PEER_LOST: rank 1 is gone (seen by rank 0)\n"), oneOfThem);
    }

    @Test
    void reasonOfAnInnocentRankTakesOneLineHoweverLongItIs() throws IOException {
        Supervisor.JobOutcome outcome = outcome(List.of(ended(1, 1), ended(0, 1)), List.of(), Set.of());
        String box = box(
                outcome,
                printed(0, MAIN + "java.lang.Error: " + "word ".repeat(90), "\tat app.Main.main(Main.java:3)"),
                printed(1));

        assertEquals(
                1,
                box.lines()
                        .filter(line -> line.contains("word") || line.contains("Main.java"))
                        .count(),
                box);
    }

    @Test
    void framesThatRanksWereToldAreShownWhereTheCulpritPrintedNone() throws Exception {
        String text = "rank 1 aborted the group: java.lang.Error: no data\n    at app.Main.load(Main.java:9)"
                + "\n    at java.base/java.lang.Thread.run(Thread.java:840)\n  caused by java.io.IOException: disk";
        recording(text);
        Supervisor.JobOutcome outcome = outcome(List.of(ended(1, 1), ended(0, 1)), List.of(), Set.of());

        String silent = box(outcome, printed(0), printed(1));
        String printed =
                box(outcome, printed(0), printed(1, MAIN + "java.lang.Error: no data", "\tat app.Main.load()"));

        String told =
                "|   rank 0 reports: ABORTED, rank 1 to blame: rank 1 aborted the group: java.lang.Error: no data\n";
        assertTrue(
                silent.contains(told
                        + "|       at app.Main.load(Main.java:9)\n|       ... 1 frame of the JDK\n|     caused by"
                        + " java.io.IOException: disk\n"),
                silent);
        assertTrue(printed.contains(told + "| failed after it"), printed);
    }

    @Test
    void rankThatIsToBlameIsNotAmongThoseThatFailedAfterIt() throws Exception {
        recording("ranks 1, 2 aborted the group", List.of(1, 2));
        Supervisor.JobOutcome outcome = outcome(List.of(ended(1, 1), ended(2, 1), ended(0, 1)), List.of(), Set.of());
        String box = box(
                outcome,
                printed(0, MAIN + "ferro.FerroException: ABORTED: barrier on group \"world\" rank 0 seq 4: rank 1 x"),
                printed(1, MAIN + "java.lang.Error: no data", "\tat app.Main.load()"),
                printed(2, MAIN + "java.lang.Error: no data", "\tat app.Main.load()"));

        assertTrue(box.contains("| diagnosis: ranks 1, 2 are to blame: they threw java.lang.Error: no data, and"), box);
        assertTrue(box.contains("\n| failed after it: ranks [0]: ABORTED: rank 1 x\n"), box);
        assertEquals(
                1, box.lines().filter(line -> line.contains("failed after it")).count(), box);
    }

    private void recording(String text) throws IOException {
        recording(text, List.of(1));
    }

    private void recording(String text, List<Integer> culprits) throws IOException {
        Map<String, Object> failure =
                Map.of("code", "ABORTED", "culprits", culprits, "sequence", 4, "origin", 1, "text", text);
        Map<String, Object> group =
                Map.of("name", "world", "rank", 0, "ranks", List.of(0, 1, 2), "worldSize", 3, "failure", failure);
        Map<String, Object> recording = new HashMap<>(Map.of(
                "format", 1, "job", "job", "rank", 0, "worldSize", 3, "wallNanos", 5_000_000_000L, "clockNanos", 7));
        recording.putAll(Map.of("groups", List.of(group), "operations", List.of()));
        Files.writeString(folder.resolve("ferro-job-rank0.json"), Json.text(recording));
    }

    @Test
    void failureSeenAfterTheEndWasHeardOfCountsNoRankOfAnotherNode() throws Exception {
        recording("rank 1 was ended by shutdown");
        Map<Integer, String> elsewhere = Map.of(1, "node 1", 2, "node 1");
        Recordings recordings = new Recordings(folder, false, Map.of());
        // the recording is of 1970
        for (boolean late : List.of(true, false)) {
            long heardNanos = System.nanoTime() - (late ? TimeUnit.DAYS.toNanos(40_000) : 0);
            Supervisor.JobOutcome outcome = new Supervisor.JobOutcome(
                    List.of(ended(0, 1)),
                    List.of(),
                    Set.of(),
                    Optional.empty(),
                    Map.of(),
                    Optional.empty(),
                    Optional.empty(),
                    Map.of(),
                    Optional.of(heardNanos));

            NodeFindings found = Postmortem.of(outcome, List.of(printed(0)), "job", recordings, elsewhere)
                    .findings()
                    .orElseThrow();

            assertEquals(Set.of(1), found.guilty());
            assertEquals(late ? Set.of() : Set.of(1), found.early().guilty());
        }
    }

    @Test
    void whatTheLauncherSawIsTold() {
        Supervisor.JobOutcome outcome =
                outcome(List.of(ended(1, 1), ended(2, 137), ended(3, 7), ended(4, 1)), List.of(ended(0, 0)), Set.of(4));

        Ends ends = Endings.of(
                outcome,
                List.of(
                        printed(0),
                        printed(1, MAIN + "java.lang.IllegalStateException: no data"),
                        printed(2),
                        printed(3),
                        printed(4)));

        assertEquals(
                Map.of(
                        0, new Ends.ProcessEnd(Ends.EndKind.WELL, "it ended with exit code 0"),
                        1, new Ends.ProcessEnd(Ends.EndKind.THREW, "it threw java.lang.IllegalStateException: no data"),
                        2,
                                new Ends.ProcessEnd(
                                        Ends.EndKind.SIGNAL,
                                        "its process is gone: ended by signal KILL (exit code 137)"),
                        3, new Ends.ProcessEnd(Ends.EndKind.CODE, "it ended with exit code 7"),
                        4,
                                new Ends.ProcessEnd(
                                        Ends.EndKind.STOPPED, "it wrote no recording until the launcher stopped it")),
                ends.byRank());
        assertTrue(Math.abs(ends.stoppedWallNanos() - System.currentTimeMillis() * 1_000_000) < 60_000_000_000L);
    }

    private static JobEvent.Ended ended(int rank, int code) {
        return new JobEvent.Ended(rank, code, 17);
    }

    private static RankOutput printed(int rank, String... trace) {
        return new RankOutput(rank, 1000 + rank, List.of(trace), List.of());
    }

    private static Supervisor.JobOutcome outcome(
            List<JobEvent.Ended> failures, List<JobEvent.Ended> left, Set<Integer> stopped) {
        Optional<Long> stoppedNanos = stopped.isEmpty() ? Optional.empty() : Optional.of(System.nanoTime());
        return new Supervisor.JobOutcome(
                failures,
                left,
                stopped,
                stoppedNanos,
                Map.of(),
                Optional.empty(),
                Optional.empty(),
                Map.of(),
                Optional.empty());
    }

    private String box(Supervisor.JobOutcome outcome, RankOutput... printed) {
        Recordings recordings = new Recordings(folder, false, Map.of());
        Postmortem postmortem = Postmortem.of(outcome, List.of(printed), "job", recordings);
        return String.join("\n", postmortem.box(1.5).lines(120));
    }
}
