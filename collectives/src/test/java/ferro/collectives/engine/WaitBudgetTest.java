package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.collectives.engine.SpinThenPark.WaitBudget;
import ferro.group.SystemContext;
import java.util.HashMap;
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

    @Test
    void aSettingSaysHowOftenARankPolls() {
        for (int polls : new int[] {0, 1, 150, 5000}) {
            for (int cores : new int[] {2, 3}) {
                WaitBudget set = budget(3, cores, Map.of("ferro.spin.count", "" + polls));
                assertEquals(polls, set.spins() + set.yields());
                assertTrue(set.spins() <= budget(3, cores).spins(), "a rank without a core of its own spins");
            }
        }
        assertThrows(IllegalArgumentException.class, () -> budget(1, 1, Map.of("ferro.spin.count", "-1")));
    }

    private static WaitBudget budget(int ranks, int cores) {
        return budget(ranks, cores, Map.of());
    }

    private static WaitBudget budget(int ranks, int cores, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("LOCAL_WORLD_SIZE", "" + ranks);
        all.put("FERRO_LOCAL_CORES", "" + cores);
        return WaitBudget.of(SystemContext.of(all), 1);
    }
}
