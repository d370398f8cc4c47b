package ferro.collectives.engine;

import ferro.spi.RankContext;
import ferro.spi.Settings;

/**
 * How long the thread with the progress lock polls before it blocks: it first spins, then yields, then parks.
 *
 * <p>Waking a thread costs 15 to 50 µs, while a whole small all-reduce takes 5 to 10: hence the polling. If every
 * rank has a core of its own, polling costs the others nothing. If ranks share cores, polling has to end soon.
 * Linux's sched_yield does not yield to a thread that has had more than its share of the core, so that a waiting
 * rank can hold the core for a whole slice, 1.4 to 2.5 ms. Only a rank that sleeps lets the other thread go on
 * (docs/guide/tune.md, "More ranks than cores").
 *
 * @param spins  polls with {@link Thread#onSpinWait}
 * @param yields polls with {@link Thread#yield} after them
 * @param yieldsBetweenLooks number of those yields between two checks of clock, deadline and interrupt
 */
public record WaitBudget(int spins, int yields, int yieldsBetweenLooks) {
    private static final int SPINS = 200;
    private static final int YIELDS = 2000;
    /** 35 µs if no thread takes the core. With 50, four ranks on two cores slept more often than necessary. */
    private static final int YIELDS_ON_SHARED_CORES = 100;

    private static final int YIELDS_BETWEEN_LOOKS = 64;
    /** Smaller, because there each yield may last a slice of the scheduler. */
    private static final int YIELDS_BETWEEN_LOOKS_ON_SHARED_CORES = 8;

    /** Returns the budget for the cores of this rank. {@code ferro.spin.count} sets the number of polls. */
    public static WaitBudget of(RankContext context, int worldSize) {
        int local = Settings.LOCAL_WORLD_SIZE.find(context).orElse(worldSize);
        // a bound rank sees its own cores only, while each other rank has as many: so the launcher, or the
        // context, counts them
        int cores =
                Settings.LOCAL_CORES.find(context).orElse(Runtime.getRuntime().availableProcessors());
        WaitBudget ofCores = local <= cores
                ? new WaitBudget(SPINS, YIELDS, YIELDS_BETWEEN_LOOKS)
                : new WaitBudget(0, YIELDS_ON_SHARED_CORES, YIELDS_BETWEEN_LOOKS_ON_SHARED_CORES);
        return Settings.SPIN_COUNT.find(context).map(ofCores::limited).orElse(ofCores);
    }

    /** Returns a budget of so many polls: spins come first, as far as this budget has them, then yields. */
    private WaitBudget limited(int polls) {
        int first = Math.min(spins, polls);
        return new WaitBudget(first, polls - first, yieldsBetweenLooks);
    }
}
