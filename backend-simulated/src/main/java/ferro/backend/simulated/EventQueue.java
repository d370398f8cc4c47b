package ferro.backend.simulated;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * The events of a seeded simulation, ordered by virtual time. Events of equal time are in random order. Only one thread
 * may use an event queue.
 *
 * <p>Each event belongs to one rank, the owner of the event. Events of a paused rank wait until the rank resumes. The
 * events then run in a new random order, except that events with the same mark keep their order. Events of a dead rank
 * are dropped.
 *
 * <p>Every event is added to the trace hash. Equal hashes show that two runs with one seed are the same.
 */
final class EventQueue {
    /** Owner of events that belong to no rank. */
    static final int NOBODY = -1;

    /**
     * First time of the clock. The clock soon overflows, so that tests find code that compares times without a
     * subtraction.
     */
    private static final long ORIGIN_NANOS = Long.MAX_VALUE - 50_000;

    private static final long NEAR_NANOS = 20_000;
    private static final long FAR_NANOS = 5_000_000;
    private static final int FAR_ONE_IN = 16;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final SplittableRandom random;
    private final PriorityQueue<QueuedEvent> entries = new PriorityQueue<>();
    private final boolean[] dead;
    /** The events that wait for each paused rank, in order; null for a rank that is not paused. */
    private final List<List<QueuedEvent>> waiting = new ArrayList<>();

    private long elapsed;
    private int added;
    private long steps;
    private long hash;
    private int pressing;
    private int owner = NOBODY;

    private static final class QueuedEvent implements Comparable<QueuedEvent> {
        /** Virtual nanoseconds from the start to the event. */
        private long at;
        /** Order among events of equal time. A random number comes first, then the number of the event. */
        private long order;
        /** Whether the event must happen before the simulation ends. */
        private final boolean pressing;
        /** Rank that the event belongs to. */
        private final int owner;
        /** Kind of the event, for the trace. */
        private final long mark;

        private final Runnable task;

        QueuedEvent(boolean pressing, int owner, long mark, Runnable task) {
            this.pressing = pressing;
            this.owner = owner;
            this.mark = mark;
            this.task = task;
        }

        @Override
        public int compareTo(QueuedEvent other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    EventQueue(long seed, int worldSize) {
        // the seed is not in the hash, so that traces differ only if different events happen
        random = new SplittableRandom(seed);
        dead = new boolean[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            waiting.add(null);
        }
    }

    /** Returns the virtual clock of the ranks. */
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

    /** Returns the owner of the last step. */
    int owner() {
        return owner;
    }

    /**
     * Draws a random delay of a message, or the wait of a rank before its next progress step. Most delays are short.
     * Some delays are long enough for a later message of another link to arrive first.
     */
    long delay() {
        return 1 + random.nextLong(random.nextInt(FAR_ONE_IN) == 0 ? FAR_NANOS : NEAR_NANOS);
    }

    /** Draws a random number from 0 up to, but not including, a bound. */
    long draw(long bound) {
        return random.nextLong(bound);
    }

    /** Adds an event that must happen before the simulation ends. */
    void add(long at, int toRank, long mark, Runnable task) {
        pressing++;
        enqueue(new QueuedEvent(true, toRank, mark, task), at, random.nextInt(Integer.MAX_VALUE));
    }

    /** Adds a timer or a check of deadlines. The event is dropped if the simulation has ended before its time. */
    void addTimer(long at, int toRank, long mark, Runnable task) {
        enqueue(new QueuedEvent(false, toRank, mark, task), at, random.nextInt(Integer.MAX_VALUE));
    }

    /**
     * Queues an event. Events that have waited for a paused rank have a negative {@code draw}, so that these events
     * come before other events of the same time.
     */
    private void enqueue(QueuedEvent entry, long at, int draw) {
        entry.at = Math.max(at, elapsed);
        entry.order = (long) draw << 32 | added++ & 0xFFFFFFFFL;
        entries.add(entry);
    }

    /** Pauses a rank. None of the rank's events happens until {@code nanos} have passed. */
    void pause(int rank, long nanos) {
        if (dead[rank] || waiting.get(rank) != null) {
            return;
        }
        waiting.set(rank, new ArrayList<>());
        pressing++;
        enqueue(new QueuedEvent(true, NOBODY, rank, () -> resume(rank)), elapsed + nanos, Integer.MIN_VALUE);
    }

    private void resume(int rank) {
        List<QueuedEvent> late = waiting.set(rank, null);
        Map<Long, List<QueuedEvent>> byMark = new LinkedHashMap<>();
        for (QueuedEvent entry : late) {
            byMark.computeIfAbsent(entry.mark, key -> new ArrayList<>()).add(entry);
        }
        for (List<QueuedEvent> inOrder : byMark.values()) {
            int[] draws = new int[inOrder.size()];
            Arrays.setAll(draws, i -> 1 + random.nextInt(Integer.MAX_VALUE) - Integer.MAX_VALUE);
            Arrays.sort(draws);
            for (int i = 0; i < draws.length; i++) {
                enqueue(inOrder.get(i), elapsed, draws[i]);
            }
        }
    }

    /** Ends a rank, so that no later event of the rank happens. */
    void end(int rank) {
        dead[rank] = true;
        List<QueuedEvent> late = waiting.get(rank);
        if (late != null) {
            late.forEach(this::drop);
            late.clear();
        }
    }

    private void drop(QueuedEvent entry) {
        pressing -= entry.pressing ? 1 : 0;
    }

    /** Returns whether an event remains that must happen before the simulation ends. */
    boolean isPressed() {
        return pressing > 0;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Returns the virtual time of the next event. */
    long nextAt() {
        return entries.isEmpty() ? Long.MAX_VALUE : entries.peek().at;
    }

    /** Runs the next event. */
    void next() {
        QueuedEvent entry = entries.remove();
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

    /** Adds a fact to the trace hash. */
    void trace(long fact) {
        hash = Long.rotateLeft((hash ^ fact) * MIX, 29);
    }
}
