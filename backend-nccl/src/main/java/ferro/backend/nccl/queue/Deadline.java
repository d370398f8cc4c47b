package ferro.backend.nccl.queue;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** A point in time that several steps share, so that the steps together have one time limit. */
public final class Deadline {
    /** A century: long enough, and the sum with a clock overflows at most once. */
    private static final long FOREVER_NANOS = Duration.ofDays(36_525).toNanos();

    /** Interval at which a waiting thread reads the clock, which may differ from the system's clock. */
    static final long LOOK_NANOS = 20_000_000;

    private final long startNanos;
    private final long lengthNanos;
    private final LongSupplier clock;

    private Deadline(long startNanos, long lengthNanos, LongSupplier clock) {
        this.startNanos = startNanos;
        this.lengthNanos = lengthNanos;
        this.clock = clock;
    }

    /**
     * Starts a deadline now.
     *
     * @param timeout a negative timeout counts as zero; a timeout longer than a century counts as a century
     * @param clock   nanoseconds, monotonic
     */
    public static Deadline after(Duration timeout, LongSupplier clock) {
        if (Objects.requireNonNull(timeout, "timeout").isNegative()) {
            return new Deadline(clock.getAsLong(), 0, clock);
        }
        boolean endless = timeout.compareTo(Duration.ofNanos(FOREVER_NANOS)) >= 0;
        return new Deadline(clock.getAsLong(), endless ? FOREVER_NANOS : timeout.toNanos(), clock);
    }

    /** Returns the remaining time in nanoseconds, 0 if none is left. */
    public long remainingNanos() {
        return Math.max(0, lengthNanos - elapsedNanos());
    }

    /** Returns whether no time is left. */
    public boolean passed() {
        return remainingNanos() == 0;
    }

    /** Returns the time since the start. */
    public long elapsedNanos() {
        return clock.getAsLong() - startNanos;
    }

    /** An event that a thread waits for, such as {@code latch::await}. */
    @FunctionalInterface
    public interface TimedWait {
        /** Waits for the event. Returns false if the time passes first. */
        boolean await(long time, TimeUnit unit) throws InterruptedException;
    }

    /**
     * Waits for an event.
     *
     * @return whether it has happened; false after the deadline
     * @throws InterruptedException if this thread was interrupted
     */
    boolean await(TimedWait event) throws InterruptedException {
        long left = remainingNanos();
        while (!event.await(Math.min(left, LOOK_NANOS), TimeUnit.NANOSECONDS)) {
            if (left == 0) {
                return false;
            }
            left = remainingNanos();
        }
        return true;
    }

    /** Waits like {@link #await}, but keeps an interrupt for later. */
    public boolean awaitQuietly(TimedWait event) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return await(event);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns the current time on the clock. */
    long nowNanos() {
        return clock.getAsLong();
    }

    /** Returns the end, on the clock. */
    long endNanos() {
        return startNanos + lengthNanos;
    }

    /** Returns the start time, on the clock. */
    long startNanos() {
        return startNanos;
    }

    /** Returns the total length, for messages. */
    public long lengthMillis() {
        return lengthNanos / 1_000_000;
    }
}
