package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.collectives.engine.SpinThenPark.WaitBudget;
import ferro.group.SystemContext;
import ferro.spi.RankContext;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a clock that each reading moves on. */
class SpinThenParkTest {
    private static final WaitBudget BUDGET = new WaitBudget(10, 100, 64);

    private final SystemContext process = SystemContext.of(Map.of());
    private long now;

    @AfterEach
    void close() {
        process.close();
    }

    @Test
    void whereNobodyWantsTheCoreItYieldsAsOftenAsTheBudgetSays() {
        SpinThenPark wait = waiting(100);

        assertEquals(10 + 100 + 1, missesUntilSleep(wait));
    }

    @Test
    void yieldsThatLastEndTheBudgetAndTheNextWaitBeginsAnew() {
        SpinThenPark wait = waiting(1_500_000);
        assertEquals(10 + 2, missesUntilSleep(wait));

        wait.begin();

        assertFalse(wait.maySleep());
        assertEquals(10 + 2, missesUntilSleep(wait));
    }

    @Test
    void theTimeOfWaitsBeforeDoesNotCount() {
        SpinThenPark wait = waiting(100);
        missesUntilSleep(wait);
        now += 60_000_000_000L;

        wait.begin();

        assertEquals(10 + 100 + 1, missesUntilSleep(wait));
    }

    /** Deadlines are checked whenever it may sleep. */
    private static int missesUntilSleep(SpinThenPark wait) {
        for (int misses = 1; misses < 1000; misses++) {
            boolean looks = wait.missed();
            if (wait.maySleep()) {
                assertTrue(looks);
                return misses;
            }
        }
        throw new AssertionError("never slept in 1000 misses");
    }

    private SpinThenPark waiting(long nanosPerReading) {
        RankContext context = (RankContext) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {RankContext.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("nanoTime")) {
                        now += nanosPerReading;
                        return now;
                    }
                    return method.invoke(process, arguments);
                });
        return new SpinThenPark(null, context, BUDGET);
    }
}
