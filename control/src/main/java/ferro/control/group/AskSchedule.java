package ferro.control.group;

/**
 * The times at which a rank asks the other ranks about a call that does not end. The intervals double. One thread uses an
 * object at a time.
 */
public final class AskSchedule {
    /**
     * Time until the first inquiry. This time is short, because ranks that have made different calls must detect the
     * difference within 100 ms.
     */
    private static final long FIRST_NANOS = 50_000_000L;

    /** Longest interval in nanoseconds. */
    public static final long MAX_INTERVAL_NANOS = 2_000_000_000L;

    private static final int ASKED_AT_ONCE = 16;

    private final long firstNanos;
    private long nextNanos;
    private long intervalNanos;

    /**
     * Makes the schedule of a group.
     *
     * @param worldSize number of ranks: every rank asks every rank, so the ranks of a larger world ask less often
     */
    public AskSchedule(int worldSize) {
        firstNanos = FIRST_NANOS * Math.max(1, worldSize / ASKED_AT_ONCE);
    }

    /**
     * Begins with another call.
     *
     * @param limitNanos nanoseconds until the first inquiry at most
     * @param nowNanos   time of now on the context's clock
     */
    public void begin(long limitNanos, long nowNanos) {
        intervalNanos = Math.max(1, Math.min(firstNanos, limitNanos));
        nextNanos = nowNanos + intervalNanos;
    }

    /**
     * Returns whether it is time to ask. If it is, the next time is one interval later.
     *
     * @param nowNanos time of now on the context's clock
     * @return whether to ask now
     */
    public boolean isDue(long nowNanos) {
        if (nowNanos - nextNanos < 0) {
            return false;
        }
        intervalNanos = Math.min(2 * intervalNanos, MAX_INTERVAL_NANOS);
        nextNanos = nowNanos + intervalNanos;
        return true;
    }

    /**
     * Returns the nanoseconds until the next inquiry; negative if it is overdue.
     *
     * @param nowNanos time of now on the context's clock
     * @return nanoseconds
     */
    public long remainingNanos(long nowNanos) {
        return nextNanos - nowNanos;
    }
}
