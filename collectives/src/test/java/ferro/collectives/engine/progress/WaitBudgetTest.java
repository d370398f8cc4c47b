package ferro.collectives.engine.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WaitBudgetTest {
    @Test
    void ranksThatHaveACoreEachSpinAlsoWhereEachIsBoundToIts() {
        assertTrue(budget(64, 64).spins() > 0);
    }

    @Test
    void ranksThatShareCoresNeverSpinAndSoonSleep() {
        assertEquals(0, budget(3, 2).spins());
        assertTrue(budget(3, 2).yields() > 0);
        assertTrue(budget(3, 2).yields() < budget(2, 2).yields() / 10);
    }

    private static WaitBudget budget(int ranks, int cores) {
        return WaitBudget.of(
                SystemContext.of(Map.of("LOCAL_WORLD_SIZE", "" + ranks, "FERRO_LOCAL_CORES", "" + cores)), 1);
    }
}
