package ferro.launcher.analyze;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WaitingMessagesTest {
    private static final String GROUP = RecordedJob.GROUP;

    @TempDir
    private Path folder;

    private static final List<String> CIRCLE = List.of(
            "ranks 0-2 wait for each other: a deadlock",
            "rank 0 waits in recv from rank 1 tag 0 of group \"tcp\" for rank 1",
            "rank 1 waits in recv from rank 2 tag 0 of group \"tcp\" for rank 2",
            "rank 2 waits in recv from rank 0 tag 0 of group \"tcp\" for rank 0");

    private static RecordedJob inACircle() {
        RecordedJob job = new RecordedJob(3);
        for (int rank = 0; rank < 3; rank++) {
            int other = (rank + 1) % 3;
            job.hangs(rank, GROUP, -1, "recv from rank " + other + " tag 0", other);
        }
        return job;
    }

    @Test
    void rankThatSendsNothingIsToBlame() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.hangs(0, GROUP, -1, "recv from rank 1 tag 0", 1);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(1), analysis.guilty());
        assertEquals(
                "rank 1 is to blame: it is in no call of ferro, while rank 0 waits in recv from rank 1 tag 0 of group \"tcp\"",
                analysis.verdict().get(0));
    }

    @Test
    void ranksThatReceiveInACircleAreADeadlock() throws Exception {
        RecordedJob job = inACircle();

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(CIRCLE, analysis.verdict());
        assertEquals(Set.of(0, 1, 2), analysis.guilty());
        assertTrue(analysis.judged().isDeadlock());
    }

    @Test
    void ranksThatReceiveInACircleUntilTheirTimeoutAreADeadlockToo() throws Exception {
        RecordedJob job = inACircle();
        job.passes(2_000 * RecordedJob.MILLI).fail(job.allBut(), "TIMED_OUT", List.of(1), -1, "gave up on rank 1");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(CIRCLE, analysis.verdict());
        assertTrue(analysis.judged().isDeadlock());
    }

    @Test
    void ranksThatLeaveOneAfterAnotherBehindTheirTimeoutsAreADeadlockToo() throws Exception {
        RecordedJob job = inACircle();
        job.passes(2_000 * RecordedJob.MILLI).timesOut(1);
        job.passes(30 * RecordedJob.MILLI)
                .fail(List.of(0), "PEER_LOST", List.of(1), -1, "rank 1 left")
                .timesOut(2);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(CIRCLE, analysis.verdict());
        assertTrue(analysis.judged().isDeadlock());
    }

    @Test
    void deadlockOfSendsHasAdvice() throws Exception {
        RecordedJob job = new RecordedJob(2);
        job.hangs(0, GROUP, -1, "send to rank 1 tag 0", 1).hangs(1, GROUP, -1, "send to rank 0 tag 0", 0);
        job.passes(2_000 * RecordedJob.MILLI);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(
                List.of(
                        "ranks 0, 1 wait for each other: a deadlock",
                        "rank 0 waits in send to rank 1 tag 0 of group \"tcp\" for rank 1",
                        "rank 1 waits in send to rank 0 tag 0 of group \"tcp\" for rank 0",
                        "each rank sends before it receives: use sendReceive, or sendAsync before the recv"),
                analysis.verdict());
    }

    @Test
    void receiveThatTimedOutAndABarrierThatWaitsForItsRankAreADeadlock() throws Exception {
        RecordedJob job = new RecordedJob(2);
        job.hangs(0, GROUP, -1, "recv from rank 1 tag 0", 1).hangs(1, GROUP, 1, "barrier by flat", 0);
        job.passes(2_000 * RecordedJob.MILLI).timesOut(0);
        job.passes(30 * RecordedJob.MILLI).fail(List.of(1), "PEER_LOST", List.of(0), -1, "rank 0 left");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertTrue(analysis.judged().isDeadlock(), analysis.verdict()::toString);
        assertEquals(
                List.of(
                        "ranks 0, 1 wait for each other: a deadlock",
                        "rank 0 waits in recv from rank 1 tag 0 of group \"tcp\" for rank 1",
                        "rank 1 waits in barrier seq 1 of group \"tcp\" for rank 0"),
                analysis.verdict());
    }

    @Test
    void rankThatSentNothingUntilTheTimeoutIsToBlameAndNotTheRankThatLeft() throws Exception {
        RecordedJob job = new RecordedJob(3).hangs(0, GROUP, -1, "recv from rank 1 tag 0", 1);
        job.passes(2_000 * RecordedJob.MILLI).timesOut(0);
        job.passes(30 * RecordedJob.MILLI)
                .hangs(1, GROUP, 1, RecordedJob.TEXT, 0)
                .hangs(2, GROUP, 1, RecordedJob.TEXT, 0);
        job.fail(List.of(1, 2), "PEER_LOST", List.of(0), -1, "rank 0 left");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(1), analysis.guilty(), analysis.verdict()::toString);
    }

    @Test
    void timeoutThatARankHasCaughtIsForgotten() throws Exception {
        RecordedJob job = new RecordedJob(3).hangs(0, GROUP, -1, "recv from rank 1 tag 0", 1);
        job.passes(2_000 * RecordedJob.MILLI).timesOut(0).calls(1, 5, 0);
        job.fail(List.of(0, 1), "PEER_LOST", List.of(2), 6, "rank 2 is gone");

        assertEquals(Set.of(2), job.analyzed(folder, job.allBut()).guilty());
    }

    @Test
    void rankThatWaitsForNoOtherIsToBlameForATimeoutOfACircle() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.hangs(0, GROUP, -1, "recv from rank 1 tag 0", 1).hangs(1, GROUP, -1, "recv from rank 2 tag 0", 2);
        job.fail(job.allBut(), "TIMED_OUT", List.of(2), -1, "gave up on rank 2");

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(2), analysis.guilty());
        assertFalse(analysis.judged().isDeadlock());
    }

    @Test
    void rankThatWaitsForAMessageIsNotToBlameForACollective() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).hangs(0, GROUP, 6, RecordedJob.TEXT);
        job.hangs(1, GROUP, -1, "recv from rank 2 tag 0", 2);

        assertEquals(Set.of(2), job.analyzed(folder, job.allBut()).guilty());
    }

    @Test
    void rankThatHasAskedForAMessageInAdvanceIsStillToBlame() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0).hangs(0, GROUP, 6, RecordedJob.TEXT);
        job.hangs(1, GROUP, -1, "recv from rank 0 tag 0", 0);

        assertEquals(Set.of(1), job.analyzed(folder, job.allBut()).guilty());
    }
}
