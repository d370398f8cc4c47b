package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.training.ChildJvm;
import ferro.training.TrainingRanks;
import ferro.training.TrainingRanks.Over;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that saves all the time, killed somewhere in a save. */
class KilledSaveTest {
    private static final int KILLS = 3;

    @TempDir
    private Path folder;

    @Test
    void leavesACheckpointThatIsWholeAndTheNextProcessGoesOnFromIt() throws Exception {
        for (int kill = 1; kill <= KILLS; kill++) {
            try (ChildJvm saving = ChildJvm.start(SavesForever.class, List.of(), folder.toString())) {
                saving.await("several");
                saving.kill();
            }
            int least = 3 * kill;
            TrainingRanks.run(Over.SIMULATED, 2, group -> {
                ToyModel model = ToyModel.on(group.rank(), 2);
                try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                    long step = checkpoints.load(model.state()).step();
                    model.assertOf(step);
                    assertTrue(step >= least, "step " + step + " after " + least + " have ended well");
                }
                return null;
            });
        }
    }
}
