package ferro.collectives;

import ferro.spi.RankContext;
import ferro.spi.Settings;

/**
 * How long a driver looks again at once before it blocks: first spinning, then giving way, then parking.
 *
 * <p>Waking a thread costs 15 to 50 µs, a whole small all-reduce 5 to 10, hence the looking. Spinning helps only where
 * every rank has a core of its own, giving way only where ranks are a few per core (docs/performance).
 *
 * @param spins  looks with {@link Thread#onSpinWait}
 * @param yields looks with {@link Thread#yield} after them
 */
record WaitBudget(int spins, int yields) {
    private static final int SPINS = 200;
    private static final int YIELDS = 2000;
    private static final int CROWD = 8;

    static WaitBudget of(RankContext context, int worldSize) {
        int local = Settings.LOCAL_WORLD_SIZE.find(context).orElse(worldSize);
        // a bound rank sees its own cores only, while each of the others has as many
        int cores =
                Settings.LOCAL_CORES.find(context).orElse(Runtime.getRuntime().availableProcessors());
        return new WaitBudget(local <= cores ? SPINS : 0, local <= CROWD * cores ? YIELDS : 0);
    }
}
