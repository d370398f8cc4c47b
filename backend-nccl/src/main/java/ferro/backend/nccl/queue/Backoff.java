package ferro.backend.nccl.queue;

/**
 * Computes how long a thread that polls a device sleeps between polls. At first the thread does not sleep. Later it
 * sleeps for a small part of the time that it has slept so far. Thus the end of a long operation is detected late by
 * only a small part of the operation's length.
 */
final class Backoff {
    /** Number of polls before the first sleep. These polls take about as long as a small collective on a device. */
    private static final int EAGER_LOOKS = 64;

    private static final long SHORTEST_NANOS = 20_000;
    private static final long LONGEST_NANOS = 1_000_000;
    /** The next sleep is the total time slept so far, divided by this number. */
    private static final int PART = 16;

    private int looks;
    private long sleptNanos;

    /** Makes the next polls without sleep. Called after progress. */
    void reset() {
        looks = 0;
        sleptNanos = 0;
    }

    /** Returns how long to sleep after a poll without progress; 0 means to poll again at once. */
    long next() {
        if (looks < EAGER_LOOKS) {
            looks++;
            return 0;
        }
        long nanos = Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, sleptNanos / PART));
        sleptNanos += nanos;
        return nanos;
    }
}
