package ferro.control.membership;

/**
 * A watch that measures the pauses of this process, for example by a garbage collection or a stop signal. A tick that
 * comes late shows a pause. The watch keeps the last pauses. No method allocates. Thread-safe.
 */
final class PauseWatch {
    /** The shortest delay of a tick that counts as a pause. The scheduler causes shorter delays. */
    static final long SHORTEST_NANOS = 50_000_000L;

    private static final int KEPT = 64;

    private final long[] ends = new long[KEPT];
    private final long[] lengths = new long[KEPT];
    private int count;
    private long dueNanos;
    private boolean ticking;

    /** Sets the time at which the next tick is due. */
    synchronized void expect(long atNanos) {
        dueNanos = atNanos;
        ticking = true;
    }

    /** Records that no more ticks come, so no tick can be late from now on. */
    synchronized void stop() {
        ticking = false;
    }

    /** Records a tick. Returns the delay of the tick in nanoseconds, or 0 if the tick was not late. */
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

    /** Returns the total length of the pauses since a time, including a pause that no tick has shown yet. */
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
