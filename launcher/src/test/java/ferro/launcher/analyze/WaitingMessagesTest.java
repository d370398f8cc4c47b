package ferro.launcher.analyze;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verdicts on ranks that wait for messages. */
class WaitingMessagesTest {
    private static final String GROUP = RecordedJob.GROUP;

    @TempDir
    private Path folder;

    @Test
    void rankThatSendsNothingIsToBlame() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.hangs(0, GROUP, -1, "recv from rank 1 tag 0", 1);

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(1), analysis.guilty());
        assertEquals(
                "rank 1 is to blame: it is in no call of ferro, while others wait in recv from rank 1 tag 0 of group \"tcp\"",
                analysis.verdict().get(0));
    }

    @Test
    void ranksThatReceiveInACircleAreADeadlock() throws Exception {
        RecordedJob job = new RecordedJob(3);
        for (int rank = 0; rank < 3; rank++) {
            int other = (rank + 1) % 3;
            job.hangs(rank, GROUP, -1, "recv from rank " + other + " tag 0", other);
        }

        Analysis analysis = job.analyzed(folder, job.allBut());

        assertEquals(Set.of(0, 1, 2), analysis.guilty());
        assertTrue(analysis.verdict().get(0).contains("a deadlock"), analysis.verdict()::toString);
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
