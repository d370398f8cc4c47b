package ferro.control.group;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** A count of calls in flight. A close waits until the count is zero. Thread-safe. */
public final class InFlightCallCount {
    /** The longest wait between two reads of the clock, because a test may advance the clock at any time. */
    private static final long LOOK_NANOS = 10_000_000;

    private int count;

    InFlightCallCount() {}

    /** Records that a call begins. */
    public synchronized void begun() {
        count++;
    }

    /** Records that a call has ended, with or without success. */
    public synchronized void ended() {
        count--;
        notifyAll();
    }

    /** Waits until no call is in flight, the given clock has reached a given time, or the thread is interrupted. */
    public synchronized void await(long untilNanos, LongSupplier clock) {
        try {
            long left = untilNanos - clock.getAsLong();
            while (count > 0 && left > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, LOOK_NANOS));
                left = untilNanos - clock.getAsLong();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
