package ferro.launcher.output;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A limit for the time in which a stream is read after its rank has ended. Counts time spent waiting for bytes, not
 * time spent writing to a slow screen. The output of the rank needs no wait, because it is already in the pipe.
 * Thread-safe.
 */
final class OutputTimeout {
    /** Total time that the reader waits for a child of the rank, such as tee, which keeps the pipe open. */
    static final long MILLIS = 300;
    /** More bytes than the pipes of a rank and a child hold (at most 1 MiB). A child that prints more may never end. */
    static final long MOST_BYTES = 4 << 20;

    private final LongSupplier clock;
    private boolean waiting;
    private long sinceNanos;
    private long waitedNanos;
    private long bytes;

    OutputTimeout(LongSupplier clock) {
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

    /** Starts to count from zero. */
    synchronized void renew() {
        sinceNanos = clock.getAsLong();
        waitedNanos = 0;
        bytes = 0;
    }

    /** Returns the time that is left; zero or less if the stream need not be read any longer. */
    synchronized long leftMillis() {
        long waited = waitedNanos + (waiting ? clock.getAsLong() - sinceNanos : 0);
        return bytes > MOST_BYTES ? 0 : MILLIS - TimeUnit.NANOSECONDS.toMillis(waited);
    }
}
