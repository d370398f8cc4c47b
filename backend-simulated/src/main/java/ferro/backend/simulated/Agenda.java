package ferro.backend.simulated;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * What will happen in a seeded simulation, by virtual time; equal times are ordered by draw. One thread.
 *
 * <p>Everything that happens goes into the trace hash, so that two runs of one seed can be told to be the same.
 */
final class Agenda {
    /** Shortly before the clock wraps, so that code which compares times instead of subtracting them is found. */
    private static final long ORIGIN_NANOS = Long.MAX_VALUE - 50_000;

    private static final long NEAR_NANOS = 20_000;
    private static final long FAR_NANOS = 5_000_000;
    private static final int FAR_ONE_IN = 16;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final SplittableRandom random;
    private final PriorityQueue<Entry> entries = new PriorityQueue<>(
            Comparator.comparingLong(Entry::at).thenComparingInt(Entry::draw).thenComparingLong(Entry::number));
    private long elapsed;
    private long added;
    private long steps;
    private long hash;
    private int pressing;

    /**
     * Something that will happen.
     *
     * @param at       elapsed virtual nanoseconds
     * @param draw     order among equal times
     * @param number   order of equal draws
     * @param pressing whether the simulation must not end before
     * @param mark     what it is, for the trace
     * @param task     what to do
     */
    private record Entry(long at, int draw, long number, boolean pressing, long mark, Runnable task) {}

    Agenda(long seed) {
        random = new SplittableRandom(seed);
        hash = seed;
    }

    /** Returns the virtual clock that ranks see. */
    long nanoTime() {
        return ORIGIN_NANOS + elapsed;
    }

    /** Returns the virtual nanoseconds since the start. */
    long elapsed() {
        return elapsed;
    }

    long steps() {
        return steps;
    }

    long hash() {
        return hash;
    }

    /** Draws how long a message, or a rank's next turn, takes: mostly short, sometimes long enough to be overtaken. */
    long delay() {
        return 1 + random.nextLong(random.nextInt(FAR_ONE_IN) == 0 ? FAR_NANOS : NEAR_NANOS);
    }

    /** Adds something that must happen before the simulation ends. */
    void add(long at, long mark, Runnable task) {
        add(at, true, mark, task);
    }

    /** Adds something that happens if the simulation lasts so long: a timer, a look at deadlines. */
    void addTimer(long at, long mark, Runnable task) {
        add(at, false, mark, task);
    }

    private void add(long at, boolean mustHappen, long mark, Runnable task) {
        pressing += mustHappen ? 1 : 0;
        entries.add(new Entry(Math.max(at, elapsed), random.nextInt(), added++, mustHappen, mark, task));
    }

    /** Returns whether something is left that must happen. */
    boolean isPressed() {
        return pressing > 0;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Does what comes next. */
    void next() {
        Entry entry = entries.remove();
        pressing -= entry.pressing ? 1 : 0;
        elapsed = entry.at;
        steps++;
        trace(entry.mark);
        trace(entry.at);
        entry.task.run();
    }

    /** Puts a fact into the trace hash. */
    void trace(long fact) {
        hash = Long.rotateLeft((hash ^ fact) * MIX, 29);
    }
}
