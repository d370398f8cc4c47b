package ferro.backend.simulated;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * What will happen in a seeded simulation, by virtual time; equal times are ordered by draw. One thread.
 *
 * <p>Everything happens to one rank, its owner. What happens to a rank that is paused waits until it goes on, and then comes in
 * an order drawn anew, but for what has the same mark, which keeps its order; what would happen to a dead rank is dropped.
 *
 * <p>Everything that happens goes into the trace hash, so that two runs of one seed can be told to be the same.
 */
final class Agenda {
    /** Owner of what belongs to no rank. */
    static final int NOBODY = -1;

    /** Shortly before the clock wraps, so that code which compares times instead of subtracting them is found. */
    private static final long ORIGIN_NANOS = Long.MAX_VALUE - 50_000;

    private static final long NEAR_NANOS = 20_000;
    private static final long FAR_NANOS = 5_000_000;
    private static final int FAR_ONE_IN = 16;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final SplittableRandom random;
    private final PriorityQueue<Entry> entries = new PriorityQueue<>();
    private final boolean[] dead;
    /** What waits for each paused rank, in order; null for a rank that runs. */
    private final List<List<Entry>> waiting = new ArrayList<>();

    private long elapsed;
    private int added;
    private long steps;
    private long hash;
    private int pressing;
    private int owner = NOBODY;

    /** Something that will happen. */
    private static final class Entry implements Comparable<Entry> {
        /** Elapsed virtual nanoseconds. */
        private long at;
        /** Order among equal times: the draw, then the number. */
        private long order;
        /** Whether the simulation must not end before. */
        private final boolean pressing;
        /** To whom it happens. */
        private final int owner;
        /** What it is, for the trace. */
        private final long mark;

        private final Runnable task;

        Entry(boolean pressing, int owner, long mark, Runnable task) {
            this.pressing = pressing;
            this.owner = owner;
            this.mark = mark;
            this.task = task;
        }

        @Override
        public int compareTo(Entry other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    Agenda(long seed, int worldSize) {
        random = new SplittableRandom(seed);
        hash = seed;
        dead = new boolean[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            waiting.add(null);
        }
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

    /** Returns to whom the last step happened. */
    int owner() {
        return owner;
    }

    /** Draws how long a message, or a rank's next turn, takes: mostly short, sometimes long enough to be overtaken. */
    long delay() {
        return 1 + random.nextLong(random.nextInt(FAR_ONE_IN) == 0 ? FAR_NANOS : NEAR_NANOS);
    }

    /** Draws a number from 0 up to a bound. */
    long draw(long bound) {
        return random.nextLong(bound);
    }

    /** Adds something that must happen before the simulation ends. */
    void add(long at, int toRank, long mark, Runnable task) {
        add(at, new Entry(true, toRank, mark, task));
    }

    /** Adds something that happens if the simulation lasts so long: a timer, a look at deadlines. */
    void addTimer(long at, int toRank, long mark, Runnable task) {
        add(at, new Entry(false, toRank, mark, task));
    }

    private void add(long at, Entry entry) {
        pressing += entry.pressing ? 1 : 0;
        entry.at = Math.max(at, elapsed);
        entry.order = order(random.nextInt(Integer.MAX_VALUE));
        entries.add(entry);
    }

    /** Orders by draw; what has waited for a rank has a negative one, and comes before whatever else comes at that time. */
    private long order(int draw) {
        return (long) draw << 32 | added++ & 0xFFFFFFFFL;
    }

    /** Has a rank stand still: nothing happens to it until then. */
    void pause(int rank, long nanos) {
        if (dead[rank] || waiting.get(rank) != null) {
            return;
        }
        waiting.set(rank, new ArrayList<>());
        Entry end = new Entry(true, NOBODY, rank, () -> resume(rank));
        pressing++;
        end.at = elapsed + nanos;
        end.order = order(Integer.MIN_VALUE);
        entries.add(end);
    }

    boolean isPaused(int rank) {
        return waiting.get(rank) != null;
    }

    private void resume(int rank) {
        List<Entry> late = waiting.set(rank, null);
        Map<Long, List<Entry>> byMark = new LinkedHashMap<>();
        for (Entry entry : late) {
            byMark.computeIfAbsent(entry.mark, key -> new ArrayList<>()).add(entry);
        }
        for (List<Entry> inOrder : byMark.values()) {
            int[] draws = new int[inOrder.size()];
            Arrays.setAll(draws, i -> 1 + random.nextInt(Integer.MAX_VALUE) - Integer.MAX_VALUE);
            Arrays.sort(draws);
            for (int i = 0; i < draws.length; i++) {
                Entry entry = inOrder.get(i);
                entry.at = elapsed;
                entry.order = order(draws[i]);
                entries.add(entry);
            }
        }
    }

    /** Ends a rank: nothing happens to it any more. */
    void end(int rank) {
        dead[rank] = true;
        List<Entry> late = waiting.get(rank);
        if (late != null) {
            late.forEach(this::drop);
            late.clear();
        }
    }

    private void drop(Entry entry) {
        pressing -= entry.pressing ? 1 : 0;
    }

    /** Returns whether something is left that must happen. */
    boolean isPressed() {
        return pressing > 0;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Returns when what comes next happens. */
    long nextAt() {
        return entries.isEmpty() ? Long.MAX_VALUE : entries.peek().at;
    }

    /** Does what comes next. */
    void next() {
        Entry entry = entries.remove();
        elapsed = entry.at;
        if (entry.owner != NOBODY && dead[entry.owner]) {
            drop(entry);
            return;
        }
        if (entry.owner != NOBODY && waiting.get(entry.owner) != null) {
            waiting.get(entry.owner).add(entry);
            return;
        }
        drop(entry);
        steps++;
        owner = entry.owner;
        trace(entry.mark);
        trace(entry.at);
        entry.task.run();
    }

    /** Puts a fact into the trace hash. */
    void trace(long fact) {
        hash = Long.rotateLeft((hash ^ fact) * MIX, 29);
    }
}
