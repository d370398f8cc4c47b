package ferro.djl.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.djl.RankJvms;
import ferro.harness.Child;
import java.util.List;
import org.junit.jupiter.api.Test;

class LayerStepsTest {
    @Test
    void twoRanksTrainInAllModesAndOnePrintsTheTimes() throws Exception {
        List<Child> ranks = RankJvms.run(2, LayerSteps.class, "3", "8");

        for (String way :
                List.of("computing alone:", "gradients sent while computing:", "gradients sent at the end:")) {
            List<String> messages = ranks.get(0).after(way);
            assertEquals(1, messages.size(), ranks::toString);
            assertTrue(messages.get(0).startsWith("median of 3 steps "), messages::toString);
            assertEquals(List.of(), ranks.get(1).after(way));
        }
    }
}
