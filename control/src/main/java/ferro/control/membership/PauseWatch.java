package ferro.control.membership;

/**
 * Measures how long this process stood still, for example in a garbage collection or a stop: a late tick was held up.
 * Keeps the last pauses; no method allocates. Thread-safe.
 */
final class PauseWatch {
    /** A shorter delay is caused by the scheduler. */
    static final long SHORTEST_NANOS = 50_000_000L;

    private static final int KEPT = 64;

    private final long[] ends = new long[KEPT];
    private final long[] lengths = new long[KEPT];
    private int count;
    private long dueNanos;
    private boolean ticking;

    /** Sets when the next tick is due. */
    synchronized void expect(long atNanos) {
        dueNanos = atNanos;
        ticking = true;
    }

    /** Notes that no tick will come: from now on no tick is late. */
    synchronized void stop() {
        ticking = false;
    }

    /** Records a tick. Returns how long it was held up, 0 if it was not. */
    synchronized long tick(long nowNanos) {
        long late = late(nowNanos);
        if (late > 0) {
            int slot = count++ & (KEPT - 1);
            ends[slot] = nowNanos;
            lengths[slot] = late;
            ticking = false;
        }
        return late;
    }

    /** Returns the total length of the pauses from then to now, including one that no tick has seen yet. */
    synchronized long since(long sinceNanos, long nowNanos) {
        long total = Math.max(0, Math.min(late(nowNanos), nowNanos - sinceNanos));
        for (int i = Math.max(0, count - KEPT); i < count; i++) {
            int slot = i & (KEPT - 1);
            total += Math.max(0, Math.min(lengths[slot], ends[slot] - sinceNanos));
        }
        return total;
    }

    private long late(long nowNanos) {
        long late = nowNanos - dueNanos;
        return ticking && late >= SHORTEST_NANOS ? late : 0;
    }
}
