package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the archive of a rank's classes is made of: it has to go all the way, or the archive lacks what was left out. */
@Timeout(120)
class ArchiveProgramTest {
    /** By its connection or by the process table, whichever a survivor sees first; in a call, or between two. */
    private static final String TOLD =
            "(| seq \\d+): rank 2 (of \"world\" at \\S+|\\(pid \\d+ on host \\S+\\)) is gone: .*";

    @Test
    @Tag("long")
    void aRehearsalReportsTheDeathOfARankAndEndsWell() throws Exception {
        LauncherRun run = LauncherRun.start("run", "-n", "3", "ferro.launcher.ArchiveProgram")
                .ends(0);
        for (int rank = 0; rank < 3; rank++) {
            String sum = "[" + rank + "] rank " + rank + " of 3: the sum is 6";
            assertTrue(run.outLines().contains(sum), run::toString);
        }
        for (int survivor = 0; survivor < 2; survivor++) {
            String call = "\\[" + survivor + "] allReduce on group \"world\" rank " + survivor + TOLD;
            assertTrue(run.outLines().stream().anyMatch(line -> line.matches(call)), run::toString);
        }
    }
}
