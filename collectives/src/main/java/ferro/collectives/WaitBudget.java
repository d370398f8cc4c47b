package ferro.collectives;

import ferro.spi.RankContext;
import ferro.spi.Settings;

/**
 * How long whoever has the turn looks again at once before it blocks: first spinning, then giving way, then parking.
 *
 * <p>Waking a thread costs 15 to 50 µs, a whole small all-reduce 5 to 10, hence the looking. Where every rank has a core of its
 * own it costs nobody anything. Where ranks share cores it has to end soon: Linux's sched_yield does not give way to a thread
 * that has had more than its share of the core, so that a rank that waits for it can hold the core for a whole slice, 1.4 to
 * 2.5 ms; only who sleeps lets it go on (docs/performance, "Ranks that share cores").
 *
 * @param spins  looks with {@link Thread#onSpinWait}
 * @param yields looks with {@link Thread#yield} after them
 * @param yieldsBetweenLooks of those, from one look at clock, deadline and interrupt to the next
 */
record WaitBudget(int spins, int yields, int yieldsBetweenLooks) {
    private static final int SPINS = 200;
    private static final int YIELDS = 2000;
    /** 35 µs where nobody takes the core. With 50, four ranks on two cores slept more often than they had to. */
    private static final int YIELDS_ON_SHARED_CORES = 100;

    private static final int YIELDS_BETWEEN_LOOKS = 64;
    /** Each yield may last a slice of the scheduler there. */
    private static final int YIELDS_BETWEEN_LOOKS_ON_SHARED_CORES = 8;

    static WaitBudget of(RankContext context, int worldSize) {
        int local = Settings.LOCAL_WORLD_SIZE.find(context).orElse(worldSize);
        // a bound rank sees its own cores only, while each of the others has as many: the launcher, or the context,
        // counts them
        int cores =
                Settings.LOCAL_CORES.find(context).orElse(Runtime.getRuntime().availableProcessors());
        return local <= cores
                ? new WaitBudget(SPINS, YIELDS, YIELDS_BETWEEN_LOOKS)
                : new WaitBudget(0, YIELDS_ON_SHARED_CORES, YIELDS_BETWEEN_LOOKS_ON_SHARED_CORES);
    }
}
