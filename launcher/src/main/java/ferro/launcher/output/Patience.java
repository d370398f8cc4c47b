package ferro.launcher.output;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How long a stream is still read after its rank has ended. Only time in which the reader waits for bytes counts, and none in
 * which it writes them to a screen that is slow: what the rank has printed is in the pipe already, and is never waited for.
 * Thread-safe.
 */
final class Patience {
    /** Time for which a child, such as tee, may keep its reader waiting, in all. */
    static final long MILLIS = 300;
    /** More than the pipes of a rank and of a child behind it hold (1 MiB at most): such a child would never be done. */
    static final long MOST_BYTES = 4 << 20;

    private final LongSupplier clock;
    private boolean waiting;
    private long sinceNanos;
    private long waitedNanos;
    private long bytes;

    Patience(LongSupplier clock) {
        this.clock = clock;
    }

    /** Called before each read. */
    synchronized void waits() {
        waiting = true;
        sinceNanos = clock.getAsLong();
    }

    /** Called after each read. */
    synchronized void got(int count) {
        waitedNanos += clock.getAsLong() - sinceNanos;
        waiting = false;
        bytes += count;
    }

    /** Counts from now on. */
    synchronized void renew() {
        sinceNanos = clock.getAsLong();
        waitedNanos = 0;
        bytes = 0;
    }

    /** Returns what is left, none or less if the stream need not be read any more. */
    synchronized long leftMillis() {
        long waited = waitedNanos + (waiting ? clock.getAsLong() - sinceNanos : 0);
        return bytes > MOST_BYTES ? 0 : MILLIS - TimeUnit.NANOSECONDS.toMillis(waited);
    }
}
