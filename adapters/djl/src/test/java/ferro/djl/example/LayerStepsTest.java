package ferro.djl.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.djl.RankJvms;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LayerStepsTest {
    @TempDir
    private Path folder;

    @Test
    void twoRanksTrainInAllWaysAndOneTellsTheTimes() {
        List<RankJvms.Ended> ranks = RankJvms.run(folder, 2, LayerSteps.class, "3", "8");

        for (String way :
                List.of("computing alone:", "gradients sent while computing:", "gradients sent at the end:")) {
            List<String> messages = ranks.get(0).after(way);
            assertEquals(1, messages.size(), ranks::toString);
            assertTrue(messages.get(0).startsWith("median of 3 steps "), messages::toString);
            assertEquals(List.of(), ranks.get(1).after(way));
        }
    }
}
