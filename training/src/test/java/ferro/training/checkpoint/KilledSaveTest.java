package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Jvm;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that saves all the time, killed somewhere in a save. */
class KilledSaveTest {
    private static final int KILLS = 4;
    /** A save makes 28 calls of the file system, and some more to delete an old checkpoint. */
    private static final int CALLS_BETWEEN = 4;

    private static final int SAVES_BEFORE = 3;

    @TempDir
    private Path folder;

    @Tag("long")
    @Test
    void aKilledSaveLeavesACompleteCheckpoint() throws Exception {
        List<String> lastLines = new ArrayList<>();
        for (int kill = 1; kill <= KILLS; kill++) {
            try (Child saving = Child.start(Jvm.line(List.of(), SavesForever.class, folder))) {
                saving.await(SavesForever.began(kill * CALLS_BETWEEN, SAVES_BEFORE + 1));
                saving.kill();
                saving.exitCode();
                List<String> lines = saving.outLines();
                lastLines.add(lines.get(lines.size() - 1));
            }
            assertComplete(SAVES_BEFORE * kill);
        }
        long inASave =
                lastLines.stream().filter(line -> line.startsWith("call ")).count();
        assertTrue(2 * inASave >= KILLS, () -> "last line before each kill: " + lastLines);
    }

    private void assertComplete(int least) {
        SavingJob.each(2, LocalStorage.at(folder), (group, model, checkpoints) -> {
            long step = checkpoints.load(model.state()).step();
            model.assertOf(step);
            assertTrue(step >= least, "step " + step + " after " + least + " have ended well");
        });
    }
}
