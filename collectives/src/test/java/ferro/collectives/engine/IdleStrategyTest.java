package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import ferro.spi.RankContext;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a clock that each reading moves on. */
class IdleStrategyTest {
    private static final PollBudget BUDGET = new PollBudget(10, 100, 64);

    private final SystemContext process = SystemContext.of(Map.of());
    private long now;

    @AfterEach
    void close() {
        process.close();
    }

    @Test
    void onAFreeCoreARankYieldsAsOftenAsTheBudgetAllows() {
        IdleStrategy wait = waiting(100);

        assertEquals(10 + 100 + 1, missesUntilSleep(wait));
    }

    @Test
    void slowYieldsUseUpTheBudgetOfOneWait() {
        IdleStrategy wait = waiting(1_500_000);
        assertEquals(10 + 2, missesUntilSleep(wait));

        wait.begin();

        assertFalse(wait.maySleep());
        assertEquals(10 + 2, missesUntilSleep(wait));
    }

    @Test
    void timeBeforeTheWaitDoesNotCount() {
        IdleStrategy wait = waiting(100);
        missesUntilSleep(wait);
        now += 60_000_000_000L;

        wait.begin();

        assertEquals(10 + 100 + 1, missesUntilSleep(wait));
    }

    /** Deadlines are checked whenever it may sleep. */
    private static int missesUntilSleep(IdleStrategy wait) {
        for (int misses = 1; misses < 1000; misses++) {
            boolean looks = wait.missed();
            if (wait.maySleep()) {
                assertTrue(looks);
                return misses;
            }
        }
        throw new AssertionError("never slept in 1000 misses");
    }

    private IdleStrategy waiting(long nanosPerReading) {
        RankContext context = (RankContext) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {RankContext.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("nanoTime")) {
                        now += nanosPerReading;
                        return now;
                    }
                    return method.invoke(process, arguments);
                });
        return new IdleStrategy(null, context, BUDGET);
    }

    @Test
    void ranksWithTheirOwnBoundCoreSpin() {
        assertTrue(budget(64, 64).spins() > 0);
    }

    @Test
    void ranksThatShareCoresNeverSpinAndSleepSoon() {
        assertEquals(0, budget(3, 2).spins());
        assertTrue(budget(3, 2).yields() > 0);
        assertTrue(budget(3, 2).yields() < budget(2, 2).yields() / 10);
    }

    @Test
    void theSpinCountSettingLimitsThePolls() {
        for (int polls : new int[] {0, 1, 150, 5000}) {
            for (int cores : new int[] {2, 3}) {
                PollBudget set = budget(3, cores, Map.of("ferro.spin.count", "" + polls));
                assertEquals(polls, set.spins() + set.yields());
                assertTrue(set.spins() <= budget(3, cores).spins(), "a rank without a core of its own spins");
            }
        }
        assertThrows(IllegalArgumentException.class, () -> budget(1, 1, Map.of("ferro.spin.count", "-1")));
    }

    private static PollBudget budget(int ranks, int cores) {
        return budget(ranks, cores, Map.of());
    }

    private static PollBudget budget(int ranks, int cores, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("LOCAL_WORLD_SIZE", "" + ranks);
        all.put("FERRO_LOCAL_CORES", "" + cores);
        return PollBudget.of(SystemContext.of(all), 1);
    }
}
