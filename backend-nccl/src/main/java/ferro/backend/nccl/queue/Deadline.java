package ferro.backend.nccl.queue;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** A point in time that limits several steps together. */
public final class Deadline {
    /** A century: longer than any useful timeout, and short enough that a sum with a clock overflows at most once. */
    private static final long FOREVER_NANOS = Duration.ofDays(36_525).toNanos();

    /**
     * Interval at which a waiting thread reads the clock. The clock of a deadline may differ from the system's clock.
     */
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
     * @param timeout time until the deadline; a negative timeout means zero, and a timeout longer than a century means
     *     a century
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

    /** Returns whether the deadline has passed. */
    public boolean passed() {
        return remainingNanos() == 0;
    }

    /** Returns the nanoseconds since the start of this deadline. */
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
     * @return whether the event has happened; false after the deadline
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

    /**
     * Waits like {@link #await}, but an interrupt does not end the wait. The interrupt flag is set again afterwards.
     */
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

    /** Returns the time of the deadline, on the clock. */
    long endNanos() {
        return startNanos + lengthNanos;
    }

    /** Returns the time at which the deadline was started, on the clock. */
    long startNanos() {
        return startNanos;
    }

    /** Returns the time from the start to the deadline in milliseconds, for messages. */
    public long lengthMillis() {
        return lengthNanos / 1_000_000;
    }
}
