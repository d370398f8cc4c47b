package ferro.lightgbm.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.lightgbm.RankJvms;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the example of docs/lightgbm.md on two ranks. */
class TrainTreesTest {
    @TempDir
    private Path folder;

    @Test
    void bothRanksHaveTheSameModelAndStopAtTheSameIteration() throws Exception {
        try (RankJvms ranks = new RankJvms(folder, 2, Map.of(), TrainTrees.class, "2000", "5")) {
            List<String> trained = ranks.succeeded(0, "trained");

            assertEquals(trained, ranks.succeeded(1, "trained"));
            assertTrue(trained.get(0).startsWith("a model of 5 trees, "), trained::toString);
            assertTrue(ranks.succeeded(0, "best").get(0).startsWith("iteration 5 of 5, log loss 0."));
            assertEquals(
                    ranks.succeeded(0, "best").get(0).split(", first")[0],
                    ranks.succeeded(1, "best").get(0).split(", first")[0]);
        }
    }
}
