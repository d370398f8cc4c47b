package ferro.launcher.analyze;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of ranks that are to blame: only calls that they made, how their processes ended, and of each what it did. */
class VerdictTextTest {
    private static final String NEXT = RecordedJob.TEXT;
    private static final String GROUP = RecordedJob.GROUP;

    @TempDir
    private Path folder;

    @Test
    void abortBehindACallThatAllRanksHaveEndedIsAfterThatCall() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).passes(9 * RecordedJob.MILLI);
        job.fail(job.allBut(), "ABORTED", List.of(1), -1, "rank 1 was ended by shutdown (SIGTERM) after seq 5");

        String verdict = verdict(job.analyzed(folder, job.allBut()));

        assertEquals("rank 1 is to blame: it aborted the group after allReduce seq 5 of group \"tcp\"", verdict);
    }

    @Test
    void abortInACallOfItsOwnIsAtThatCallAlsoIfItIsAMessage() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).hangs(1, GROUP, -1, "recv from rank 0 tag 9");
        job.hangs(0, GROUP, 6, NEXT, 1).hangs(2, GROUP, 6, NEXT, 1);
        job.fail(job.allBut(), "ABORTED", List.of(1), -1, "the JVM exits while rank 1 is in recv from rank 0 tag 9");

        String verdict = verdict(job.analyzed(folder, job.allBut()));

        assertEquals("rank 1 is to blame: it aborted the group at recv from rank 0 tag 9 of group \"tcp\"", verdict);
    }

    @Test
    void abortOfARankThatRecordedNothingNamesNoCall() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0).hangs(0, GROUP, 6, NEXT, 1);
        job.fail(List.of(0), "ABORTED", List.of(1), -1, "rank 1 aborted the group: no data");

        String verdict = verdict(job.analyzed(folder, List.of(0)));

        assertEquals("rank 1 is to blame: it aborted the group", verdict);
    }

    @Test
    void lossOfARankWhileOthersReceiveNamesTheMessageAndNotTheLastCallOfAll() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).hangs(2, GROUP, -1, "recv from rank 1 tag 7", 1);
        job.passes(12 * RecordedJob.MILLI).fail(job.allBut(), "PEER_LOST", List.of(1), -1, "rank 1 left after seq 5");

        String verdict = verdict(job.analyzed(folder, job.allBut()));

        assertTrue(
                verdict.startsWith("rank 1 is to blame: it left, although rank 2 was in recv from rank 1 tag 7 of"
                        + " group \"tcp\"; its last call was allReduce seq 5, 1"),
                verdict);
    }

    @Test
    void messageOfAnotherLengthThanItsReceiveIsNoCallThatWasNeverMade() throws Exception {
        RecordedJob job =
                new RecordedJob(3).calls(1, 5, 0).hangs(0, GROUP, 6, NEXT, 1).hangs(2, GROUP, 6, NEXT, 1);
        job.hangs(1, GROUP, -1, "recv from rank 0 tag 7", 0);
        String text = "rank 0 sent i32[3], 12 bytes, to rank 1 with tag 7, rank 1 receives i32[4], 16 bytes";
        job.fail(job.allBut(), "MISMATCH", List.of(0, 1), -1, text);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(
                List.of("ranks 0, 1 are to blame: their calls differ", "rank 2 reports: MISMATCH: " + text),
                analysis.verdict());
    }

    @Test
    void rankThatNeverMadeACallIsInTheMessageThatItWaitsFor() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).hangs(0, GROUP, 6, NEXT, 1);
        job.hangs(1, GROUP, -1, "recv from rank 2 tag 7", 2).fail(job.allBut(), "TIMED_OUT", List.of(1), 6, "gave up");

        String verdict = verdict(job.analyzed(folder, job.allBut()));

        assertTrue(
                verdict.startsWith("rank 1 is to blame: it never called allReduce seq 6 of group \"tcp\"; "), verdict);
        assertTrue(
                verdict.endsWith("; it was in recv from rank 2 tag 7 of group \"tcp\", waiting for rank 2"), verdict);
    }

    @Test
    void messageOfFerroItselfIsNamedByItsPurpose() throws Exception {
        RecordedJob job = new RecordedJob(3).hangs(0, GROUP, -1, "recv \"join\" from rank 2 tag -1", 2);
        job.hangs(1, GROUP, -1, "recv from rank 0 tag -1", 0);
        job.fail(job.allBut(2), "PEER_LOST", List.of(2), -1, "rank 2 is gone");

        String verdict = verdict(job.analyzed(folder, job.allBut(2)));

        assertTrue(
                verdict.endsWith(", while rank 0 was in join of group \"tcp\" and rank 1 was in a message of ferro of"
                        + " group \"tcp\""),
                verdict);
    }

    @Test
    void rankThatHasFailedBeforeByItselfDoesNotAgree() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).hangs(0, GROUP, 6, NEXT, 1);
        job.fail(List.of(0), "ABORTED", List.of(0), -1, "rank 0 was ended by shutdown (SIGTERM)");
        job.hangs(2, GROUP, 6, NEXT, 1).fail(List.of(0, 2), "PEER_LOST", List.of(1), -1, "rank 1 is gone");

        Analysis analysis = job.analyzed(folder, List.of(0, 2));

        assertEquals(
                "rank 2 reports: PEER_LOST: rank 1 is gone", analysis.verdict().get(1));
        assertEquals(2, analysis.verdict().size(), analysis.verdict()::toString);
    }

    @Test
    void callsOfTheOthersAreNamedEachWithItsRanks() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 5, 0).hangs(0, GROUP, -1, "recv from rank 3 tag 7", 3);
        job.hangs(1, GROUP, 6, NEXT, 0).hangs(2, GROUP, 6, NEXT, 0);
        job.fail(job.allBut(3), "PEER_LOST", List.of(3), -1, "rank 3 is gone");

        String verdict = verdict(job.analyzed(folder, job.allBut(3)));

        assertEquals(
                "rank 3 is to blame: its process is gone and wrote no recording (killed, crashed, or ended by itself), while"
                        + " rank 0 was in recv from rank 3 tag 7 of group \"tcp\" and ranks 1, 2 were in allReduce seq 6 of"
                        + " group \"tcp\"",
                verdict);
    }

    @Test
    void reasonsOfTheOthersAreLeftOutWhereTheEndOfTheRankIsKnown() throws Exception {
        String advice = "; its own output may say why";
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.fail(List.of(0, 2), "PEER_LOST", List.of(1), 6, "rank 1 is gone" + advice);

        Analysis seen = job.analyzed(folder, List.of(0, 2), seen(Map.of(1, code(3))));
        Analysis unseen = job.analyzed(folder, List.of(0, 2));

        assertEquals("ranks 0, 2 agree: PEER_LOST", seen.verdict().get(1));
        assertEquals(
                "ranks 0, 2 agree: PEER_LOST: rank 1 is gone" + advice,
                unseen.verdict().get(1));
    }

    @Test
    void lossOfARankWhileNobodyIsInACallNamesNone() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0);
        job.fail(List.of(0), "PEER_LOST", List.of(1), -1, "rank 1 is gone");

        String verdict = verdict(job.analyzed(folder, List.of(0), seen(Map.of(1, code(3)))));

        assertEquals("rank 1 is to blame: it ended with exit code 3", verdict);
    }

    @Test
    void exitCodeOfARankThatLeftIsTold() throws Exception {
        RecordedJob job = leftAtSix();
        job.fail(job.allBut(), "PEER_LOST", List.of(1), 6, "rank 1 left after seq 5");

        String verdict = verdict(job.analyzed(folder, job.allBut(), seen(Map.of(1, code(3)))));

        assertTrue(
                verdict.startsWith("rank 1 is to blame: it ended with exit code 3, while the others were in allReduce"
                        + " seq 6 of group \"tcp\"; its last call was allReduce seq 5, "),
                verdict);
    }

    @Test
    void exitCodeOfARankThatHadHeardOfAnothersFailureIsNotHeldAgainstIt() throws Exception {
        RecordedJob job = leftAtSix();
        job.fail(List.of(1), "TIMED_OUT", List.of(2), 6, "gave up on rank 2");
        job.fail(List.of(0, 2), "PEER_LOST", List.of(1), 6, "rank 1 left after seq 5");

        String verdict = verdict(job.analyzed(folder, job.allBut(), seen(Map.of(1, code(3)))));

        assertFalse(verdict.contains("exit code"), verdict);
    }

    @Test
    void exitCodeOfARankThatAbortedIsTold() throws Exception {
        RecordedJob job = leftAtSix();
        job.fail(job.allBut(), "ABORTED", List.of(1), -1, "the JVM exits after seq 5");

        String verdict = verdict(job.analyzed(folder, job.allBut(), seen(Map.of(1, code(3)))));

        assertEquals(
                "rank 1 is to blame: it ended with exit code 3, and aborted the group after allReduce seq 5 of group"
                        + " \"tcp\"",
                verdict);
    }

    @Test
    void exitCodeOfARankThatOthersStillWaitForIsTold() throws Exception {
        RecordedJob job = leftAtSix();

        String verdict = verdict(job.analyzed(folder, job.allBut(), seen(Map.of(1, code(3)))));

        assertTrue(verdict.startsWith("rank 1 is to blame: it never called allReduce seq 6"), verdict);
        assertTrue(verdict.endsWith("; in the end it ended with exit code 3"), verdict);
    }

    @Test
    void exitCodeIsToldWhereNoRankIsBlamed() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.fail(List.of(0, 2), "RESOURCE", List.of(), 6, "no memory");

        String verdict = verdict(job.analyzed(folder, job.allBut(), seen(Map.of(0, code(1), 1, code(3)))));

        assertEquals(
                "no rank can be blamed: RESOURCE in group \"tcp\" at seq 6; rank 1: it ended with exit code 3",
                verdict);
    }

    @Test
    void exitCodeIsToldWhereNoGroupHasFailed() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0);

        String verdict = verdict(job.analyzed(folder, job.allBut(), seen(Map.of(1, code(3)))));

        assertTrue(verdict.endsWith("none differs; rank 1: it ended with exit code 3"), verdict);
    }

    @Test
    void ranksThatDidTheSameAreSpokenOfInThePluralAndTheirExceptionAsItIs() throws Exception {
        Ends.ProcessEnd threw = new Ends.ProcessEnd(Ends.EndKind.THREW, "java.lang.Error: it has its limits");
        RecordedJob job = lostTwo();

        String verdict = verdict(job.analyzed(folder, List.of(2), seen(Map.of(0, threw, 1, threw))));

        assertEquals(
                "ranks 0, 1 are to blame: they threw java.lang.Error: it has its limits, while rank 2 was in"
                        + " allReduce seq 6 of group \"tcp\"",
                verdict);
    }

    @Test
    void ranksThatAreGoneAreSpokenOfInThePlural() throws Exception {
        String unseen = verdict(lostTwo().analyzed(folder, List.of(2)));
        Ends.ProcessEnd killed = new Ends.ProcessEnd(Ends.EndKind.SIGNAL, "ended by signal KILL (exit code 137)");
        String seen = verdict(lostTwo().analyzed(folder, List.of(2), seen(Map.of(0, killed, 1, killed))));

        assertTrue(
                unseen.startsWith("ranks 0, 1 are to blame: their processes are gone and wrote no recording"), unseen);
        assertTrue(seen.startsWith("ranks 0, 1 are to blame: their processes are gone: ended by signal KILL"), seen);
    }

    @Test
    void ranksThatDidDifferentThingsAreSpokenOfOneByOne() throws Exception {
        Ends.ProcessEnd threw = new Ends.ProcessEnd(Ends.EndKind.THREW, "java.lang.Error: no data");

        Analysis analysis = lostTwo().analyzed(folder, List.of(2), seen(Map.of(0, threw, 1, code(3))));

        String during = ", while rank 2 was in allReduce seq 6 of group \"tcp\"";
        assertEquals(
                "ranks 0, 1 are to blame: rank 0: it threw java.lang.Error: no data" + during
                        + "; rank 1: it ended with exit code 3" + during,
                verdict(analysis));
        assertEquals(Set.of(0, 1), analysis.guilty());
    }

    private static RecordedJob leftAtSix() {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        return job.hangs(0, GROUP, 6, NEXT, 1).hangs(2, GROUP, 6, NEXT, 1).passes(7 * RecordedJob.MILLI);
    }

    private static RecordedJob lostTwo() {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).hangs(2, GROUP, 6, NEXT, 0, 1);
        return job.fail(List.of(2), "PEER_LOST", List.of(0, 1), 6, "ranks 0, 1 are gone");
    }

    private static Ends.ProcessEnd code(int code) {
        return new Ends.ProcessEnd(Ends.EndKind.CODE, "exit code " + code);
    }

    private static Ends seen(Map<Integer, Ends.ProcessEnd> ends) {
        return new Ends(new HashMap<>(ends), Set.of(), Map.of());
    }

    private static String verdict(Analysis analysis) {
        return analysis.verdict().get(0);
    }
}
