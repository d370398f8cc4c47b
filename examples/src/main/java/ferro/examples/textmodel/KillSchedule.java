package ferro.examples.textmodel;

import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The kills of a training. In each generation that has a restart left, one rank ends itself without any cleanup. Random
 * numbers of the seed select the rank.
 *
 * @param after time from the start of a generation to its kill; zero for no kills
 * @param kills number of generations that are killed
 * @param seed  seed of the ranks
 */
record KillSchedule(Duration after, int kills, long seed) {
    private static final int EXIT_CODE_OF_A_KILL = 137;

    /** Returns whether the rank of a generation is killed. */
    boolean kills(int generation, int rank, int worldSize) {
        return !after.isZero()
                && generation < kills
                && new SplittableRandom(seed * 1_000_003 + generation).nextInt(worldSize) == rank;
    }

    /**
     * Prepares the kill of this process if its rank is selected.
     *
     * @param saved is zero when the generation has a checkpoint; the kill waits for it, so that each generation gets further
     * @return thread that kills the process; an interrupt cancels the kill
     */
    Optional<Thread> prepare(int generation, int rank, int worldSize, CountDownLatch saved) {
        if (!kills(generation, rank, worldSize)) {
            return Optional.empty();
        }
        Thread thread = new Thread(() -> kill(saved), "demo-kill");
        thread.setDaemon(true);
        thread.start();
        return Optional.of(thread);
    }

    private void kill(CountDownLatch saved) {
        try {
            TimeUnit.NANOSECONDS.sleep(after.toNanos());
            saved.await();
        } catch (InterruptedException cancelled) {
            return;
        }
        Runtime.getRuntime().halt(EXIT_CODE_OF_A_KILL);
    }
}
