package ferro.launcher.analyze;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an analysis takes from the file in which a launcher says how its ranks ended. */
class RankEndsFileTest {
    private static final String JOB = "a1b2c3d4";
    private static final ProcessEnd STOPPED = new ProcessEnd(EndKind.STOPPED, "");
    private static final ProcessEnds KILLED =
            ends(new ProcessEnd(EndKind.SIGNAL, "ended by signal KILL (exit code 137)"));

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            SIGNAL | ended by signal KILL (exit code 137) | is gone: ended by signal KILL (exit code 137)
            HALTED | ''                                   | was suspended by a signal (SIGSTOP, ctrl-Z, a debugger)
            """)
    void theEndOfAProcessIsDescribedAsByItsLauncher(EndKind kind, String detail, String said) throws Exception {
        RecordedJob job = lost();

        RankEndsFile.write(folder, JOB, 0, ends(new ProcessEnd(kind, detail)));

        assertEquals(
                "rank 1 is to blame: its process " + said
                        + ", while the others were in allReduce seq 6 of group \"tcp\"",
                verdict(job, List.of(0, 2)));
    }

    @Test
    void aRankThatWasKilledAfterADumpHasNotLeft() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).write(folder, "request", List.of(0, 1, 2));
        job.passes(RecordedJob.MILLI * 1_500);
        job.hangs(0, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1).hangs(2, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1);
        job.fail(List.of(0, 2), "PEER_LOST", List.of(1), 6, "rank 1 is gone").write(folder, "lost", List.of(0, 2));
        String during = "the others were in allReduce seq 6 of group \"tcp\"; its last call was allReduce seq 5, 1.5 s"
                + " earlier";

        String unseen = Analysis.of(List.of(folder), Optional.empty()).verdict().get(0);
        RankEndsFile.write(folder, JOB, 0, KILLED);
        String seen = Analysis.of(List.of(folder), Optional.empty()).verdict().get(0);

        assertEquals("rank 1 is to blame: its process is gone, although " + during, unseen);
        assertEquals(
                "rank 1 is to blame: its process is gone: ended by signal KILL (exit code 137), while " + during, seen);
    }

    @Test
    void ranksThatASignalEndedAreNotBlamed() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.hangs(0, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1).hangs(2, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1);
        long since = job.passes(RecordedJob.MILLI * 900).wallNanos();
        job.passes(RecordedJob.MILLI).fail(job.allBut(), "ABORTED", List.of(1), -1, "rank 1 was ended by shutdown");

        RankEndsFile.write(
                folder,
                JOB,
                0,
                new ProcessEnds(
                        Map.of(0, STOPPED, 1, STOPPED, 2, STOPPED),
                        Set.of(0, 1, 2),
                        Map.of(0, since, 1, since, 2, since)));

        assertEquals(
                List.of(
                        "no group had failed when the launcher stopped ranks 0-2",
                        "ranks 0, 2 wait in allReduce seq 6 of group \"tcp\" for rank 1"),
                job.analyzed(folder, job.allBut()).verdict());
    }

    @Test
    void theVerdictBeginsWithTheLostNode() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0).hangs(0, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1);
        long since = job.passes(RecordedJob.MILLI * 900).wallNanos();
        job.passes(RecordedJob.MILLI).fail(List.of(0), "PEER_LOST", List.of(1), -1, "rank 1 is gone");
        ProcessEnds ends = new ProcessEnds(Map.of(0, STOPPED, 1, STOPPED), Set.of(0, 1), Map.of(0, since, 1, since));
        String lost = "node 1 (host b) is lost with its rank 1: the network is cut";

        RankEndsFile.write(folder, JOB, 0, ends.without(List.of(lost)));
        RankEndsFile.write(folder, JOB, 1, ends);

        assertEquals(lost + "; no group had failed when the launcher stopped ranks 0, 1", verdict(job, List.of(0)));
    }

    /** The launcher of node 0 ended rank 1 before the launcher of node 1 ended ranks 2 and 3, which had lost rank 1 by then. */
    @Test
    void aRankThatAnotherLauncherStoppedIsNotBlamed() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 5, 0);
        job.hangs(2, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1).hangs(3, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1);
        long heard = job.passes(RecordedJob.MILLI * 900).wallNanos();
        job.passes(RecordedJob.MILLI * 900).fail(List.of(2, 3), "PEER_LOST", List.of(1), 6, "rank 1 is gone");
        job.passes(RecordedJob.MILLI * 900);

        ProcessEnd code = new ProcessEnd(EndKind.CODE, "exit code 7");
        ProcessEnds first = new ProcessEnds(Map.of(0, code, 1, STOPPED), Set.of(1), Map.of(0, heard, 1, heard));
        ProcessEnds later = new ProcessEnds(Map.of(2, STOPPED, 3, STOPPED), Set.of(2, 3), Map.of(2, heard, 3, heard));
        RankEndsFile.write(folder, JOB, 0, first);
        RankEndsFile.write(folder, JOB, 1, later);

        assertEquals(
                "no group had failed when the launcher stopped ranks 1-3; rank 0: it ended with exit code 7",
                verdict(job, List.of(2, 3)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aBrokenOrOldEndsFileIsIgnored(boolean isBroken) throws Exception {
        RankEndsFile.write(folder, JOB, 0, KILLED);
        RecordedJob job = lost();
        if (isBroken) {
            Files.writeString(folder.resolve("ferro-" + JOB + "-ends0.json"), "{\"ranks\":[7]}");
        } else {
            job.passes(RecordedJob.MILLI * 1_000 * 3600 * 24 * 365 * 100);
        }

        assertEquals(
                "rank 1 is to blame: its process is gone and wrote no recording (killed, crashed, or ended by itself),"
                        + " while the others were in allReduce seq 6 of group \"tcp\"",
                verdict(job, List.of(0, 2)));
    }

    private static ProcessEnds ends(ProcessEnd ofRankOne) {
        ProcessEnd code = new ProcessEnd(EndKind.CODE, "exit code 1");
        return new ProcessEnds(Map.of(0, code, 1, ofRankOne, 2, code), Set.of(), Map.of());
    }

    private static RecordedJob lost() {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.hangs(0, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1).hangs(2, RecordedJob.GROUP, 6, RecordedJob.TEXT, 1);
        return job.fail(List.of(0, 2), "PEER_LOST", List.of(1), 6, "rank 1 is gone");
    }

    private String verdict(RecordedJob job, List<Integer> of) throws Exception {
        return job.analyzed(folder, of).verdict().get(0);
    }
}
