package ferro.backend.nccl;

import java.time.Duration;
import java.util.function.LongSupplier;

/** A point in time that several steps share, so that none of them gets the whole time again. */
final class Deadline {
    /** A century: far enough, and no sum of it and a clock overflows twice. */
    private static final long FOREVER_NANOS = Duration.ofDays(36_525).toNanos();

    private final long startNanos;
    private final long lengthNanos;
    private final LongSupplier clock;

    private Deadline(long startNanos, long lengthNanos, LongSupplier clock) {
        this.startNanos = startNanos;
        this.lengthNanos = lengthNanos;
        this.clock = clock;
    }

    /**
     * Starts now.
     *
     * @param timeout at least zero; a longer one than a century counts as a century
     * @param clock   nanoseconds, monotonic
     */
    static Deadline after(Duration timeout, LongSupplier clock) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("the timeout is negative: " + timeout);
        }
        boolean endless = timeout.compareTo(Duration.ofNanos(FOREVER_NANOS)) >= 0;
        return new Deadline(clock.getAsLong(), endless ? FOREVER_NANOS : timeout.toNanos(), clock);
    }

    /** Returns what is left, 0 if nothing is. */
    long remainingNanos() {
        return Math.max(0, lengthNanos - elapsedNanos());
    }

    boolean passed() {
        return remainingNanos() == 0;
    }

    long elapsedNanos() {
        return clock.getAsLong() - startNanos;
    }

    /** Returns the whole length, for messages. */
    long lengthMillis() {
        return lengthNanos / 1_000_000;
    }
}
