package ferro.launcher.analyze;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DifferentRootsTest {
    @TempDir
    private Path folder;

    @Test
    void rootsThatDifferAreNamedWithWhatToDo() throws Exception {
        String call = "broadcast f32[8] root %d by staged";
        RecordedJob job = new RecordedJob(2).calls(1, 5, 0);
        job.hangs(0, RecordedJob.GROUP, 6, call.formatted(0)).hangs(1, RecordedJob.GROUP, 6, call.formatted(1));

        String verdict = String.join("\n", job.analyzed(folder, job.allBut()).verdict());

        assertTrue(verdict.startsWith("roots differ under seq 6 of group \"tcp\": one side is wrong\n"), verdict);
        assertTrue(verdict.endsWith("\nall ranks must name the same root"), verdict);
    }

    @Test
    void bothCallsAreShownWhereOneRankSawBothAndTheOthersClosedWell() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0);
        job.hangs(2, RecordedJob.GROUP, 6, "broadcast f32[8] root 1 by staged");
        String calls = "rank 0 broadcast f32[8] root 0 by staged, rank 2 broadcast f32[8] root 1 by staged";
        job.fail(List.of(2), "MISMATCH", List.of(0, 2), 6, "roots differ at seq 6: " + calls);

        List<String> verdict = job.analyzed(folder, List.of(2)).verdict();

        assertTrue(verdict.stream().anyMatch(line -> line.contains(calls)), verdict::toString);
    }
}
