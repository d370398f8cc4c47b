package ferro.backend.nccl.queue;

/**
 * Computes how long a thread that polls a device sleeps between polls. At first the thread does not sleep, later for a
 * small part of the time slept so far. The end of a long operation is thus detected late by only a small part of its
 * length.
 */
final class Backoff {
    /** Polls before the first sleep: about as long as a small collective takes on a device. */
    private static final int EAGER_LOOKS = 64;

    private static final long SHORTEST_NANOS = 20_000;
    private static final long LONGEST_NANOS = 1_000_000;
    /** Divisor: the next sleep is this part of the time slept so far. */
    private static final int PART = 16;

    private int looks;
    private long sleptNanos;

    /** Starts again without sleep, after progress. */
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
