package ferro.launcher.output;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A limit for the time in which a stream is read after its rank has ended. Time spent waiting for bytes counts, time
 * spent writing to a slow screen does not count. The output of the rank needs no wait, because this output is already
 * in the pipe. Thread-safe.
 */
final class OutputTimeout {
    /** Total time that the reader waits for a child of the rank that keeps the pipe open, such as tee. */
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

    /** Starts to count the wait of a read. */
    synchronized void waits() {
        waiting = true;
        sinceNanos = clock.getAsLong();
    }

    /** Ends the wait of a read, which has returned {@code count} bytes. */
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

    /** Returns the time that is left, in milliseconds; zero or less if the stream need not be read any longer. */
    synchronized long leftMillis() {
        long waited = waitedNanos + (waiting ? clock.getAsLong() - sinceNanos : 0);
        return bytes > MOST_BYTES ? 0 : MILLIS - TimeUnit.NANOSECONDS.toMillis(waited);
    }
}
