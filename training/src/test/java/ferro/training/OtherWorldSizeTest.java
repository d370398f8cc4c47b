package ferro.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.optimizer.ShardedOptimizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A job that four ranks have saved goes on with another number of ranks as it would have gone on with four. */
class OtherWorldSizeTest {
    private static final int SAVED = 6;
    private static final int STEPS = 14;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"2, true", "3, true", "2, false", "3, false"})
    void anotherNumberOfRanksContinuesWithTheSameLosses(int others, boolean sharded) {
        double[] expected = losses(4, true, true);

        double[] resumed = losses(others, sharded, false);

        assertEquals(STEPS - SAVED, resumed.length);
        assertArrayEquals(Arrays.copyOfRange(expected, SAVED, STEPS), resumed, 1e-5);
    }

    private double[] losses(int worldSize, boolean sharded, boolean saves) {
        return Ranks.run(Medium.SIMULATED, worldSize, group -> trained(group, sharded, saves))
                .get(0);
    }

    /** Trains from the start, and saves on the way, or from the checkpoint on. */
    private double[] trained(ProcessGroup group, boolean sharded, boolean saves) {
        try (LinearTraining training = new LinearTraining(group, sharded);
                Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
            ShardedOptimizer optimizer = training.optimizer();
            if (!saves) {
                optimizer.restore(checkpoints.load(training.state()).metadata());
            }
            List<Double> losses = new ArrayList<>();
            while (optimizer.stepCount() < STEPS) {
                losses.add(training.step());
                if (saves && optimizer.stepCount() == SAVED) {
                    checkpoints.save(SAVED, training.state());
                }
            }
            return losses.stream().mapToDouble(Double::doubleValue).toArray();
        }
    }
}
