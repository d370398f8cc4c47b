package ferro.backend.nccl;

/**
 * How long a thread that looks at a device sleeps between its looks: at first not at all, then a small part of what it has
 * slept so far, so that the end of something long is seen late by a small part of its length.
 */
final class Naps {
    /** Looks before the first nap: about as long as a small collective takes on a device. */
    private static final int EAGER_LOOKS = 64;

    private static final long SHORTEST_NANOS = 20_000;
    private static final long LONGEST_NANOS = 1_000_000;
    /** This part of what has been slept so far is slept next. */
    private static final int PART = 16;

    private int looks;
    private long sleptNanos;

    /** Something has moved. */
    void reset() {
        looks = 0;
        sleptNanos = 0;
    }

    /** Returns how long to sleep after a look that has seen nothing; 0 is to look again at once. */
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
