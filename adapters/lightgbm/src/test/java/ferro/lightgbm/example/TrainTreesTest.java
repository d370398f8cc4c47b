package ferro.lightgbm.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Jvm;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainTreesTest {
    @TempDir
    private Path folder;

    @Test
    void bothRanksHaveTheSameModelAndIteration() throws Exception {
        List<String> line = Jvm.line(List.of("-Djna.tmpdir=" + folder), TrainTrees.class, 2000, 5);
        List<Child> ranks = Job.run(2, Map.of(), line);

        List<String> trained = ranks.get(0).after("trained");
        assertEquals(trained, ranks.get(1).after("trained"));
        assertTrue(trained.get(0).startsWith("a model of 5 trees, "), trained::toString);
        String best = ranks.get(0).after("best").get(0);
        assertTrue(best.startsWith("iteration 5 of 5, log loss 0."), best);
        assertEquals(best.split(", first")[0], ranks.get(1).after("best").get(0).split(", first")[0]);
    }
}
