package ferro.collectives.engine;

import ferro.spi.RankContext;
import ferro.spi.Settings;

/**
 * The number of polls that the thread with the progress lock makes before it parks: first spins, then yields.
 *
 * <p>Waking a thread takes 15 to 50 µs, but a small all-reduce takes only 5 to 10 µs. So a waiting rank polls first.
 * Polling costs the other ranks nothing if every rank has its own core. Polling has to end soon if ranks share cores.
 * On Linux, sched_yield does not yield to a thread that has had more than its share of the core. So a waiting rank can
 * hold a core for a whole time slice, 1.4 to 2.5 ms. Another thread gets the core only when the waiting rank sleeps
 * (docs/guide/tune.md, "More ranks than cores").
 *
 * @param spins  number of polls with {@link Thread#onSpinWait}
 * @param yields number of polls with {@link Thread#yield} after the spins
 * @param yieldsBetweenLooks number of yields between two checks of clock, deadline and interrupt
 */
public record PollBudget(int spins, int yields, int yieldsBetweenLooks) {
    private static final int SPINS = 200;
    private static final int YIELDS = 2000;
    /**
     * Number of yields that take 35 µs in total if no thread takes the core. With 50 yields, four ranks on two cores
     * slept more often than necessary.
     */
    private static final int YIELDS_ON_SHARED_CORES = 100;

    private static final int YIELDS_BETWEEN_LOOKS = 64;
    /** Number of yields between two checks on shared cores: a small number, because a yield may last a time slice. */
    private static final int YIELDS_BETWEEN_LOOKS_ON_SHARED_CORES = 8;

    /** Returns the budget for the cores of this rank. {@code ferro.spin.count} sets the number of polls. */
    public static PollBudget of(RankContext context, int worldSize) {
        int local = Settings.LOCAL_WORLD_SIZE.find(context).orElse(worldSize);
        // a rank that is bound to cores sees only these cores, so the launcher or the context counts the cores of all
        // ranks
        int cores =
                Settings.LOCAL_CORES.find(context).orElse(Runtime.getRuntime().availableProcessors());
        PollBudget ofCores = local <= cores
                ? new PollBudget(SPINS, YIELDS, YIELDS_BETWEEN_LOOKS)
                : new PollBudget(0, YIELDS_ON_SHARED_CORES, YIELDS_BETWEEN_LOOKS_ON_SHARED_CORES);
        return Settings.SPIN_COUNT.find(context).map(ofCores::limited).orElse(ofCores);
    }

    /** Returns a budget of {@code polls} polls: at most as many spins as in this budget, and yields for the rest. */
    private PollBudget limited(int polls) {
        int first = Math.min(spins, polls);
        return new PollBudget(first, polls - first, yieldsBetweenLooks);
    }
}
