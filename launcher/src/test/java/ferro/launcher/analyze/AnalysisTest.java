package ferro.launcher.analyze;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who is to blame, in jobs that went wrong in every way there is. */
class AnalysisTest {
    private static final String NEXT = RecordedJob.TEXT;

    @TempDir
    private Path folder;

    @Test
    void rankThatSkipsACallIsToBlameWhileTheOthersStillWait() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 16, 0);
        job.allBut(3).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 17, NEXT, 3));
        job.passes(12_300 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(3), analysis.guilty());
        String verdict = analysis.verdict().get(0);
        assertTrue(
                verdict.startsWith(
                        "rank 3 is to blame: it never called allReduce seq 17 of group \"tcp\"; its last call was"
                                + " allReduce seq 16, 12.3 s earlier; it is in no call of ferro"),
                verdict);
        assertTrue(text(analysis).contains("ranks 0-2: allReduce seq 17, running at step 3, waiting for rank 3"));
        assertTrue(text(analysis).contains("rank 3: allReduce seq 16, done; 1 call behind ranks 0-2"), text(analysis));
    }

    @Test
    void callsAreNamedWithTheirLabels() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 16, 0);
        String labelled = NEXT.replace("allReduce", "allReduce \"dense2 weight\"");
        job.allBut(3).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 17, labelled, 3));
        job.passes(12_300 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, job.allBut());

        String verdict = analysis.verdict().get(0);
        assertTrue(verdict.contains("it never called allReduce \"dense2 weight\" seq 17 of group \"tcp\""), verdict);
        assertTrue(
                text(analysis).contains("ranks 0-2: allReduce \"dense2 weight\" seq 17, running at step 3"),
                text(analysis));
        assertTrue(text(analysis).contains("rank 3: allReduce seq 16, done; 1 call behind ranks 0-2"), text(analysis));
    }

    @Test
    void rankThatWroteNothingIsToBlameForATimeOut() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 5, 0);
        job.allBut(2).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 2));
        job.passes(3_000 * RecordedJob.MILLI).fail(job.allBut(2), "TIMED_OUT", List.of(2), 6, "gave up on rank 2");

        Analysis analysis = job.analyzed(folder, job.allBut(2));

        assertEquals(Set.of(2), analysis.guilty());
        String verdict = analysis.verdict().get(0);
        assertEquals(
                "rank 2 is to blame: it wrote no recording (stopped, killed or stuck), while the others were in"
                        + " allReduce seq 6 of group \"tcp\"",
                verdict);
        assertEquals(
                "ranks 0, 1, 3 agree: TIMED_OUT: gave up on rank 2",
                analysis.verdict().get(1));
        assertEquals(Set.of(2), analysis.missing());
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, "})
    void rankIsNotToBlameForATimeOutOfRanksThatAreOnlySlow(int known, Integer guilty) throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0).hangs(0, RecordedJob.GROUP, 6, NEXT, 1);
        job.hangs(1, RecordedJob.GROUP, 6, NEXT).fail(job.allBut(), "TIMED_OUT", List.of(), 6, "gave up");

        Analysis analysis = job.knows(job.allBut(), known).analyzed(folder, job.allBut());

        assertEquals(guilty == null ? Set.of() : Set.of(guilty), analysis.guilty());
    }

    @Test
    void killedRankIsToldFromAStoppedOne() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 1));
        job.fail(job.allBut(1), "PEER_LOST", List.of(1), 6, "rank 1 is gone");

        Analysis analysis = job.analyzed(folder, job.allBut(1));

        assertTrue(
                analysis.verdict().get(0).startsWith("rank 1 is to blame: its process is gone and wrote no recording"),
                analysis.verdict().toString());
    }

    @Test
    void exceptionThatTheLauncherSawWinsOverAMissingRecording() throws Exception {
        Analysis analysis = lost(seen(1, Ends.EndKind.THREW, "java.lang.IllegalStateException: no data"));

        assertEquals(Set.of(1), analysis.guilty());
        assertEquals(
                "rank 1 is to blame: it threw java.lang.IllegalStateException: no data, while the others were in"
                        + " allReduce seq 6 of group \"tcp\"",
                analysis.verdict().get(0));
    }

    @Test
    void exitCodeZeroThatTheLauncherSawWinsOverAMissingRecording() throws Exception {
        Analysis analysis = lost(seen(1, Ends.EndKind.WELL, ""));

        assertEquals(
                "rank 1 is to blame: it ended with exit code 0 before the others had finished allReduce seq 6 of group"
                        + " \"tcp\"",
                analysis.verdict().get(0));
    }

    @Test
    void exitOfTheProgramBeforeCloseIsNamedWithItsLine() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).write(folder, "System.exit at Main.java:12", List.of(1));
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 1));
        job.fail(job.allBut(1), "PEER_LOST", List.of(1), 6, "rank 1 left");

        String well = job.analyzed(folder, job.allBut(1), seen(1, Ends.EndKind.WELL, ""))
                .verdict()
                .get(0);
        String code = job.analyzed(folder, job.allBut(1), seen(1, Ends.EndKind.CODE, "exit code 3"))
                .verdict()
                .get(0);

        assertTrue(
                well.startsWith(
                        "rank 1 is to blame: it ended with exit code 0 before close, at Main.java:12, before the"
                                + " others had finished allReduce seq 6 of group"),
                well);
        assertTrue(
                code.startsWith("rank 1 is to blame: it ended with exit code 3 before close, at Main.java:12, while the"
                        + " others were in allReduce seq 6 of group"),
                code);
    }

    private Analysis lost(Ends ends) throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 1));
        job.fail(job.allBut(1), "PEER_LOST", List.of(1), 6, "rank 1 is gone");
        return job.analyzed(folder, job.allBut(1), ends);
    }

    @Test
    void exceptionOfARankThatAbortedIsNamedBeforeTheAbort() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0).hangs(0, RecordedJob.GROUP, 6, NEXT, 1);
        job.fail(job.allBut(), "ABORTED", List.of(1), 6, "rank 1 aborted the group: no data");

        Analysis analysis = job.analyzed(folder, job.allBut(), seen(1, Ends.EndKind.THREW, "java.lang.Error: no data"));

        assertEquals(
                "rank 1 is to blame: it threw java.lang.Error: no data, and aborted the group after allReduce seq 5 of"
                        + " group \"tcp\"",
                analysis.verdict().get(0));
    }

    @Test
    void exitCodeThatMayBeAConsequenceHidesNothingThatARankRecorded() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0).hangs(0, RecordedJob.GROUP, 6, NEXT, 1);
        job.fail(job.allBut(), "TIMED_OUT", List.of(1), 6, "gave up on rank 1");

        Analysis analysis = job.analyzed(folder, job.allBut(), seen(1, Ends.EndKind.CODE, "exit code 1"));

        assertTrue(
                analysis.verdict().get(0).startsWith("rank 1 is to blame: it never called allReduce seq 6"),
                analysis.verdict().toString());
    }

    @Test
    void rankThatTheLauncherStoppedIsNotToBlameForBeingGone() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.hangs(0, RecordedJob.GROUP, 6, NEXT, 1).hangs(2, RecordedJob.GROUP, 6, NEXT, 1);
        long stopped = job.wallNanos();
        job.passes(30 * RecordedJob.MILLI).fail(List.of(0, 2), "PEER_LOST", List.of(1), 6, "rank 1 is gone");

        Analysis analysis =
                job.analyzed(folder, job.allBut(1), new Ends(Map.of(), Set.of(1), Map.of(0, stopped, 2, stopped)));

        assertEquals(Set.of(), analysis.guilty());
        assertEquals(
                "no group had failed when the launcher stopped rank 1",
                analysis.verdict().get(0));
    }

    @Test
    void rankThatTheLauncherStoppedLaterIsToBlameForWhatItDidBefore() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT, 1));
        job.fail(List.of(0, 2), "TIMED_OUT", List.of(1), 6, "gave up on rank 1").passes(500 * RecordedJob.MILLI);
        Ends.ProcessEnd stopped = new Ends.ProcessEnd(Ends.EndKind.STOPPED, "");
        Map<Integer, Long> told = Map.of(0, job.wallNanos(), 2, job.wallNanos());

        Analysis analysis = job.analyzed(folder, job.allBut(1), new Ends(Map.of(1, stopped), Set.of(1), told));

        assertEquals(Set.of(1), analysis.guilty());
        assertEquals(
                "rank 1 is to blame: it wrote no recording until the launcher stopped it, while the others were in"
                        + " allReduce seq 6 of group \"tcp\"",
                analysis.verdict().get(0));
    }

    private static Ends seen(int rank, Ends.EndKind kind, String detail) {
        return new Ends(Map.of(rank, new Ends.ProcessEnd(kind, detail)), Set.of(), Map.of());
    }

    @Test
    void minorityIsToBlameForCallsThatDiffer() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 5, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT));
        job.hangs(1, RecordedJob.GROUP, 6, "allReduce f32[262143] SUM by ring");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(1), analysis.guilty());
        assertEquals(
                List.of(
                        "lengths differ under seq 6 of group \"tcp\": rank 1 differs from the others",
                        "rank 1 called allReduce f32[262143] SUM by ring",
                        "ranks 0, 2, 3 called allReduce f32[262144] SUM by ring",
                        "all ranks must pass the same length; gather, allGather, scatter, reduceScatter and allToAll"
                                + " have forms with counts for lengths that differ"),
                analysis.verdict());
        assertTrue(text(analysis).contains("different calls under seq 6:"), text(analysis));
    }

    @Test
    void callsThatDifferInMoreThanTheirLengthsAreCallsThatDiffer() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0);
        job.hangs(0, RecordedJob.GROUP, 6, NEXT).hangs(1, RecordedJob.GROUP, 6, "broadcast f32[8] root 0 by staged");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(
                "ranks made different calls under seq 6 of group \"tcp\": one side is wrong",
                analysis.verdict().get(0));
    }

    @Test
    void ranksThatBlamedMoreThanTheOneThatDiffersDoNotContradictTheVerdict() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 6, NEXT));
        job.hangs(1, RecordedJob.GROUP, 6, "allReduce f32[1000000] SUM by halving");
        job.fail(job.allBut(), "MISMATCH", List.of(0, 1, 2), 6, "ranks made different calls at seq 6: ...");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(1), analysis.guilty());
        assertEquals(
                "lengths differ under seq 6 of group \"tcp\": rank 1 differs from the others",
                analysis.verdict().get(0));
        assertEquals(
                1,
                analysis.verdict().stream()
                        .filter(line -> line.contains("rank 1"))
                        .skip(1)
                        .count());
        assertTrue(analysis.verdict().stream().noneMatch(line -> line.contains("blame")), analysis.verdict()::toString);
        job.allBut().forEach(rank -> assertTrue(analysis.judged().explains(rank, "MISMATCH")));
    }

    @Test
    void chainOfWaitingIsFollowedThroughOtherGroups() throws Exception {
        RecordedJob job = new RecordedJob(4).group("tcp[2,3]", List.of(2, 3)).calls(1, 5, 0);
        job.hangs(0, RecordedJob.GROUP, 6, NEXT).hangs(1, RecordedJob.GROUP, 6, NEXT);
        job.hangs(2, "tcp[2,3]", 1, "broadcast f32[8] from 0 by binomial", 3).passes(500 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(3), analysis.guilty());
        assertTrue(
                analysis.verdict().contains("rank 2 waits in broadcast seq 1 of group \"tcp[2,3]\" for rank 3"),
                analysis.verdict().toString());
    }

    @Test
    void groupOfOtherNamesOnItsRanksIsOne() throws Exception {
        RecordedJob job = new RecordedJob(4).groupOfOtherName("pair", List.of(0, 1), 0, "pair#2");
        job.hangs(0, "pair#2", 1, NEXT);
        job.hangs(1, "pair", 1, "allReduce f32[262143] SUM by ring");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertTrue(
                analysis.verdict().get(0).contains("lengths differ under seq 1"),
                analysis.verdict().toString());
    }

    @Test
    void ranksThatWaitForOneAnotherAreADeadlock() throws Exception {
        RecordedJob job = new RecordedJob(2).group("dp", List.of(0, 1)).calls(1, 5, 0);
        job.hangs(0, RecordedJob.GROUP, 6, NEXT).hangs(1, "dp", 1, NEXT);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(0, 1), analysis.guilty());
        assertTrue(
                analysis.verdict().get(0).contains("wait for each other: a deadlock"),
                analysis.verdict().toString());
    }

    @Test
    void rankThatComesLastIsNamedWithItsDelay() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 60, 20 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(), analysis.guilty());
        assertTrue(
                analysis.verdict().get(0).startsWith("nothing is wrong"),
                analysis.verdict().toString());
        assertTrue(
                text(analysis).contains("slow: rank 3 was the last rank to make 50 of the last 50 calls, "),
                text(analysis));
    }

    @Test
    void rankThatComesLastToFourCallsIsNotNamed() throws Exception {
        RecordedJob four = new RecordedJob(4, "four").calls(1, 4, 20 * RecordedJob.MILLI);
        assertFalse(text(four.analyzed(folder, four.allBut())).contains("slow: "));

        RecordedJob five = new RecordedJob(4, "five").calls(1, 5, 20 * RecordedJob.MILLI);
        assertTrue(text(five.analyzed(folder, five.allBut())).contains("slow: rank 3 was the last rank to make 5 of"));
    }

    @Test
    void rankToBlameIsNotAmongTheRanksThatAgree() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.fail(job.allBut(), "PEER_LOST", List.of(1), 6, "rank 1 left after seq 5");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(
                "ranks 0, 2 agree: PEER_LOST: rank 1 left after seq 5",
                analysis.verdict().get(1));
        job.allBut().forEach(rank -> assertTrue(analysis.judged().explains(rank, "PEER_LOST")));
    }

    @Test
    void recordingOfAnEarlierDumpIsNotTakenForOneOfTheLast() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).write(folder, "request", List.of(0, 1, 2));
        job.ask(folder).passes(34_000 * RecordedJob.MILLI);
        job.hangs(0, RecordedJob.GROUP, 6, NEXT, 2).hangs(1, RecordedJob.GROUP, 6, NEXT, 2);
        job.passes(300 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, List.of(0, 1));

        assertEquals(
                "rank 2 is to blame: its newest recording is 34.3 s older than the others (stopped, killed or stuck),"
                        + " while the others were in allReduce seq 6 of group \"tcp\"",
                analysis.verdict().get(0));
        assertEquals(Set.of(2), analysis.missing());
        assertTrue(text(analysis).contains("rank 2: no recent recording"), text(analysis));
        assertTrue(
                text(analysis).contains("note: the recording of rank 2 is left out: it answers an earlier ferro dump"));
        assertFalse(text(analysis).contains("rank 2 wrote"), text(analysis));
    }

    /** Ranks 0 and 1 of host-a fail; rank 1 was killed before it could write a recording of the failure. */
    @Test
    void launchersOfSeveralNodesLeaveOutARecordingOfAnEarlierDump() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).write(folder, "request", List.of(0, 1, 2));
        job.ask(folder).passes(34_000 * RecordedJob.MILLI);
        job.fail(List.of(0), "PEER_LOST", List.of(1), 6, "the connection to rank 1 was closed");
        job.write(folder, "failure", List.of(0));
        Analysis.Brief texts = Analysis.brief(folder, "a1b2c3d4", file -> true, 10);

        Analysis analysis = Analysis.of(texts, Ends.UNSEEN).orElseThrow();

        assertEquals(3, texts.texts().size());
        assertEquals(Set.of(1), analysis.missing());
        assertEquals(Set.of(1), analysis.guilty());
    }

    @Test
    void recordingsThatAnswerOneDumpLateAreAllTaken() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).ask(folder).write(folder, "request", List.of(0, 1));

        Analysis analysis = job.passes(9_000 * RecordedJob.MILLI).analyzed(folder, List.of(2));

        assertEquals(Set.of(), analysis.missing());
    }

    @Test
    void recordingsOfTheHostsOfAJobAreReadTogether() throws Exception {
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
    void rankThatSaysSomethingElseIsShown() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.fail(List.of(0), "PEER_LOST", List.of(2), 6, "rank 2 is gone");
        job.fail(List.of(1), "TIMED_OUT", List.of(0), 6, "gave up on rank 0");

        Analysis analysis = job.analyzed(folder, List.of(0, 1));

        assertEquals(Set.of(2), analysis.guilty());
        assertTrue(
                analysis.verdict()
                        .contains("rank 1 reports another failure: TIMED_OUT, rank 0 to blame: gave up on rank 0"),
                analysis.verdict().toString());
    }

    @Test
    void lossOfARankThatLeftBecauseOfAFailureDoesNotHideIt() throws Exception {
        RecordedJob job = new RecordedJob(3).group("tcp[0,1]", List.of(0, 1)).calls(1, 5, 0);
        job.fail(job.allBut(), "ABORTED", List.of(2), 6, "rank 2 aborted the group: no data");
        job.passes(200 * RecordedJob.MILLI).failSecond(0, "PEER_LOST", List.of(1), "rank 1 is gone");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(2), analysis.guilty());
        assertTrue(
                analysis.verdict().get(0).startsWith("rank 2 is to blame: it aborted the group"),
                analysis.verdict().toString());
    }

    @Test
    void jobThatWroteLastIsTakenAndTheOtherNamed() throws Exception {
        new RecordedJob(2, "older").calls(1, 3, 0).write(folder, "request", List.of(0, 1));
        RecordedJob newer = new RecordedJob(2, "newer").calls(1, 9, 0);

        Analysis analysis = newer.analyzed(folder, List.of(0, 1));

        assertTrue(text(analysis).contains("job newer, 2 ranks"), text(analysis));
        assertTrue(text(analysis).contains("files of other jobs are left out: older; this job wrote last"));
        assertTrue(String.join(
                        "\n", Analysis.of(List.of(folder), Optional.of("older")).text())
                .contains("job older, 2 ranks"));
    }

    @Test
    void filesOfAnEarlierRunOfTheSameNameAreLeftOut() throws Exception {
        RecordedJob earlier = new RecordedJob(4, "default").calls(1, 3, 0);
        earlier.fail(earlier.allBut(), "ABORTED", List.of(3), 4, "no data");
        earlier.write(folder, "first failure", earlier.allBut());
        RecordedJob last = new RecordedJob(2, "default").passes(600_000 * RecordedJob.MILLI);

        Analysis analysis = last.calls(1, 9, 0).analyzed(folder, List.of(0, 1));

        assertTrue(analysis.verdict().get(0).startsWith("nothing is wrong"), text(analysis));
        assertTrue(text(analysis).contains("job default, 2 ranks (FERRO_JOB_ID, "), text(analysis));
        assertTrue(
                text(analysis).contains("files of an earlier run are left out: those of ranks 2, 3 "), text(analysis));
    }

    private static String text(Analysis analysis) {
        return String.join("\n", analysis.text());
    }

    @Test
    void ranksOfAHealthyJobAreNotBehindBecauseTheirRecordingsAreOlder() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0);
        job.write(folder, "request", List.of(0));
        job.calls(6, 8, 0);

        Analysis analysis = job.analyzed(folder, List.of(1));

        assertTrue(text(analysis).contains("rank 1: allReduce seq 8, done"), text(analysis));
        assertTrue(text(analysis).contains("rank 0: allReduce seq 5, done"), text(analysis));
        assertFalse(text(analysis).contains("behind"), text(analysis));
    }

    @Test
    void rankOfAHealthyJobIsNotToBlameBecauseItsRecordingIsOlder() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.write(folder, "request", List.of(2));
        job.calls(6, 90, 0).hangs(0, RecordedJob.GROUP, 91, NEXT, 2).hangs(1, RecordedJob.GROUP, 91, NEXT, 2);
        job.passes(2 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, List.of(0, 1));

        assertEquals(Set.of(), analysis.guilty(), text(analysis));
        assertTrue(text(analysis).contains("verdict: no rank is to blame yet"), text(analysis));
    }

    @Test
    void endOfARankWithoutARecordingIsShownBesideTheRecordings() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.fail(List.of(0, 2), "PEER_LOST", List.of(1), 6, "rank 1 is gone");
        Ends killed = new Ends(
                Map.of(1, new Ends.ProcessEnd(Ends.EndKind.SIGNAL, "ended by signal KILL (exit code 137)")),
                Set.of(),
                Map.of());

        Analysis analysis = job.analyzed(folder, List.of(0, 2), killed);

        assertTrue(
                text(analysis).contains("\n  rank 1 wrote no recording: ended by signal KILL (exit code 137)\n"),
                text(analysis));
    }
}
