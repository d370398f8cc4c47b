package ferro.launcher.analyze;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.launcher.analyze.ProcessEnds.EndKind;
import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is to blame, in jobs that went wrong in every way there is. */
class AnalysisTest {
    private static final String NEXT = RecordedJob.TEXT;

    @TempDir
    private Path folder;

    @Test
    void anExitBeforeCloseIsNamedWithItsLine() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).write(folder, "System.exit at Main.java:12", List.of(1));
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 1));
        job.fail(job.allBut(1), "PEER_LOST", List.of(1), 6, "rank 1 left");

        String well = first(job.analyzed(folder, job.allBut(1), seen(1, EndKind.WELL, "")));
        String code = first(job.analyzed(folder, job.allBut(1), seen(1, EndKind.CODE, "exit code 3")));

        assertStarts(
                well,
                "rank 1 is to blame: it ended with exit code 0 before close, at Main.java:12, before the"
                        + " others had finished allReduce seq 6 of group");
        assertStarts(
                code,
                "rank 1 is to blame: it ended with exit code 3 before close, at Main.java:12, while the"
                        + " others were in allReduce seq 6 of group");
    }

    @Test
    void aRankThatTheLauncherStoppedIsNotBlamedForItsEnd() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.hangs(0, RecordedJob.GROUP, 6, NEXT, 1).hangs(2, RecordedJob.GROUP, 6, NEXT, 1);
        long stopped = job.wallNanos();
        job.passes(30 * RecordedJob.MILLI).fail(List.of(0, 2), "PEER_LOST", List.of(1), 6, "rank 1 is gone");

        Analysis analysis = job.analyzed(
                folder, job.allBut(1), new ProcessEnds(Map.of(), Set.of(1), Map.of(0, stopped, 2, stopped)));

        assertEquals(Set.of(), analysis.guilty());
        assertEquals("no group had failed when the launcher stopped rank 1", first(analysis));
    }

    @Test
    void aRankThatTheLauncherStoppedLaterIsBlamedForItsEarlierFailure() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 1));
        job.fail(List.of(0, 2), "TIMED_OUT", List.of(1), 6, "gave up on rank 1").passes(500 * RecordedJob.MILLI);
        ProcessEnd stopped = new ProcessEnd(EndKind.STOPPED, "");
        Map<Integer, Long> told = Map.of(0, job.wallNanos(), 2, job.wallNanos());

        Analysis analysis = job.analyzed(folder, job.allBut(1), new ProcessEnds(Map.of(1, stopped), Set.of(1), told));

        assertEquals(Set.of(1), analysis.guilty());
        assertEquals(
                "rank 1 is to blame: it wrote no recording until the launcher stopped it, while the others were in"
                        + " allReduce seq 6 of group \"tcp\"",
                first(analysis));
    }

    @Test
    void theGroupThatFailedFirstIsJudged() throws Exception {
        RecordedJob job = new RecordedJob(3).group("pair", List.of(0, 1)).calls(1, 5, 0);
        job.allBut(2).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 2));
        job.fail(List.of(0, 1), "PEER_LOST", List.of(2), 6, "rank 2 is gone").passes(500 * RecordedJob.MILLI);
        job.failSecond(0, "PEER_LOST", List.of(1), "rank 1 left").failSecond(1, "PEER_LOST", List.of(0), "rank 0 left");

        assertEquals(Set.of(2), job.analyzed(folder, job.allBut(2)).guilty());
    }

    private static String first(Analysis analysis) {
        return analysis.verdict().get(0);
    }

    private static ProcessEnds seen(int rank, EndKind kind, String detail) {
        return new ProcessEnds(Map.of(rank, new ProcessEnd(kind, detail)), Set.of(), Map.of());
    }

    @Test
    void aGroupWithDifferentNamesOnItsRanksIsOneGroup() throws Exception {
        RecordedJob job = new RecordedJob(4).groupOfOtherName("pair", List.of(0, 1), 0, "pair#2");
        job.hangs(0, "pair#2", 1, NEXT);
        job.hangs(1, "pair", 1, "allReduce f32[262143] SUM by ring");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertHas(first(analysis), "lengths differ under seq 1");
    }

    @Test
    void aRankThatIsAlwaysLastIsNamedWithItsDelay() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 60, 20 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(), analysis.guilty());
        assertStarts(first(analysis), "nothing is wrong");
        assertHas(text(analysis), "slow: rank 3 was the last rank to make 50 of the last 50 calls, ");
    }

    @Test
    void aRankThatIsLastInOnlyFourCallsIsNotNamed() throws Exception {
        RecordedJob four = new RecordedJob(4, "four").calls(1, 4, 20 * RecordedJob.MILLI);
        assertLacks(text(four.analyzed(folder, four.allBut())), "slow: ");

        RecordedJob five = new RecordedJob(4, "five").calls(1, 5, 20 * RecordedJob.MILLI);
        assertHas(text(five.analyzed(folder, five.allBut())), "slow: rank 3 was the last rank to make 5 of");
    }

    @Test
    void aRecordingOfAnEarlierDumpDoesNotAnswerTheLast() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).write(folder, "request", List.of(0, 1, 2));
        job.ask(folder).passes(34_000 * RecordedJob.MILLI);
        job.hangs(0, RecordedJob.GROUP, 6, NEXT, 2).hangs(1, RecordedJob.GROUP, 6, NEXT, 2);
        job.passes(300 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, List.of(0, 1));

        assertEquals(
                "rank 2 is to blame: its newest recording is 34.3 s older than the others (stopped, killed or stuck),"
                        + " while the others were in allReduce seq 6 of group \"tcp\"",
                first(analysis));
        assertEquals(Set.of(2), analysis.missing());
        assertHas(text(analysis), "rank 2: no recent recording");
        assertHas(text(analysis), "note: the recording of rank 2 is left out: it answers an earlier ferro dump");
        assertLacks(text(analysis), "rank 2 wrote");
    }

    /** Ranks 0 and 1 of host-a fail; rank 1 was killed before it could write a recording of the failure. */
    @Test
    void recordingsOfAnEarlierDumpAreLeftOutOnAllNodes() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).write(folder, "request", List.of(0, 1, 2));
        job.ask(folder).passes(34_000 * RecordedJob.MILLI);
        job.fail(List.of(0), "PEER_LOST", List.of(1), 6, "the connection to rank 1 was closed");
        job.write(folder, "failure", List.of(0));
        Analysis.Excerpt texts = Analysis.brief(folder, "a1b2c3d4", file -> true, 10);

        Analysis analysis = Analysis.of(texts, ProcessEnds.UNSEEN).orElseThrow();

        assertEquals(3, texts.texts().size());
        assertEquals(Set.of(1), analysis.missing());
        assertEquals(Set.of(1), analysis.guilty());
    }

    @Test
    void lateAnswersToOneDumpAreAllAnalyzed() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).ask(folder).write(folder, "request", List.of(0, 1));

        Analysis analysis = job.passes(9_000 * RecordedJob.MILLI).analyzed(folder, List.of(2));

        assertEquals(Set.of(), analysis.missing());
    }

    @Test
    void recordingsOfAllHostsOfAJobAreAnalyzedTogether() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 5, 0);
        List<Path> folders =
                List.of(Files.createDirectory(folder.resolve("a")), Files.createDirectory(folder.resolve("b")));
        // the newer of two recordings counts
        job.write(folders.get(1), "request", List.of(0, 1)).passes(1_000 * RecordedJob.MILLI);
        job.allBut(3).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 3));
        job.write(folders.get(0), "request", List.of(0, 1)).write(folders.get(1), "request", List.of(2, 3));

        Analysis analysis = Analysis.of(folders, Optional.empty());

        assertEquals(Set.of(3), analysis.guilty());
        assertEquals(Set.of(), analysis.missing());
    }

    @Test
    void theJobWithTheNewestRecordingsIsAnalyzedAndOthersAreNamed() throws Exception {
        new RecordedJob(2, "older").calls(1, 3, 0).write(folder, "request", List.of(0, 1));
        RecordedJob newer = new RecordedJob(2, "newer").calls(1, 9, 0);

        Analysis analysis = newer.analyzed(folder, List.of(0, 1));

        assertHas(text(analysis), "job newer, 2 ranks", "files of other jobs are left out: older; this job wrote last");
        assertHas(text(Analysis.of(List.of(folder), Optional.of("older"))), "job older, 2 ranks");
    }

    @Test
    void recordingsOfAnEarlierRunOfTheSameJobAreLeftOut() throws Exception {
        RecordedJob earlier = new RecordedJob(4, "default").calls(1, 3, 0);
        earlier.fail(earlier.allBut(), "ABORTED", List.of(3), 4, "no data");
        earlier.write(folder, "first failure", earlier.allBut());
        RecordedJob last = new RecordedJob(2, "default").passes(600_000 * RecordedJob.MILLI);

        Analysis analysis = last.calls(1, 9, 0).analyzed(folder, List.of(0, 1));

        assertStarts(first(analysis), "nothing is wrong");
        assertHas(text(analysis), "job default, 2 ranks (FERRO_JOB_ID, ");
        assertHas(text(analysis), "files of an earlier run are left out: those of ranks 2, 3 ");
    }

    private static String text(Analysis analysis) {
        return String.join("\n", analysis.text());
    }

    @Test
    void ranksWithOlderRecordingsAreNotReportedBehind() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0);
        job.write(folder, "request", List.of(0));
        job.calls(6, 8, 0);

        Analysis analysis = job.analyzed(folder, List.of(1));

        assertHas(text(analysis), "rank 1: allReduce seq 8, done", "rank 0: allReduce seq 5, done");
        assertLacks(text(analysis), "behind");
    }

    @Test
    void aRankWithAnOlderRecordingIsNotBlamed() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.write(folder, "request", List.of(2));
        job.calls(6, 90, 0).hangs(0, RecordedJob.GROUP, 91, NEXT, 2).hangs(1, RecordedJob.GROUP, 91, NEXT, 2);
        job.passes(2 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, List.of(0, 1));

        assertEquals(Set.of(), analysis.guilty(), text(analysis));
        assertHas(text(analysis), "verdict: no rank is to blame yet");
    }
}
