package ferro.collectives.control;

/**
 * How long this process stood still, as in a garbage collection or a stop: a tick that comes late was held up. Remembers the
 * last pauses; no look allocates. Thread-safe.
 */
final class PauseWatch {
    /** What is late by less is the scheduler's doing. */
    static final long SHORTEST_NANOS = 50_000_000L;

    private static final int KEPT = 64;

    private final long[] ends = new long[KEPT];
    private final long[] lengths = new long[KEPT];
    private int count;
    private long dueNanos;
    private boolean ticking;

    /** Says when the next tick is due. */
    synchronized void expect(long atNanos) {
        dueNanos = atNanos;
        ticking = true;
    }

    /** No tick will come: nothing is late. */
    synchronized void stop() {
        ticking = false;
    }

    /** A tick comes; returns how long it was held up, 0 if it was not. */
    synchronized long tick(long nowNanos) {
        long late = late(nowNanos);
        if (late > 0) {
            int place = count++ & (KEPT - 1);
            ends[place] = nowNanos;
            lengths[place] = late;
            ticking = false;
        }
        return late;
    }

    /** Returns how much of the time from then to now was pauses, with one that no tick has seen yet. */
    synchronized long since(long sinceNanos, long nowNanos) {
        long total = Math.max(0, Math.min(late(nowNanos), nowNanos - sinceNanos));
        for (int i = Math.max(0, count - KEPT); i < count; i++) {
            int place = i & (KEPT - 1);
            total += Math.max(0, Math.min(lengths[place], ends[place] - sinceNanos));
        }
        return total;
    }

    private long late(long nowNanos) {
        long late = nowNanos - dueNanos;
        return ticking && late >= SHORTEST_NANOS ? late : 0;
    }
}
