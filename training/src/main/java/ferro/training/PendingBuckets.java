package ferro.training;

import ferro.Work;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The buckets of one step that are in flight. This class starts the buckets in order, waits for the buckets in order,
 * and measures the time.
 */
final class PendingBuckets {
    private final List<GradientHook.Exchange> exchanges;
    private final LongSupplier nanoTime;
    private final Work[] works;
    private final long[] startNanos;
    private int started;
    private int ended;
    /** The latest time at which a bucket that has ended was in flight. */
    private long busyUntilNanos;

    private long busyNanos;
    private long waitedNanos;

    PendingBuckets(List<GradientHook.Exchange> exchanges, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.exchanges = List.copyOf(exchanges);
        works = new Work[exchanges.size()];
        startNanos = new long[works.length];
    }

    /** Returns the index of the next bucket to start, or the number of buckets if all have started. */
    int next() {
        return started;
    }

    void startNext(int contributors) {
        works[started] = exchanges.get(started).start(contributors);
        startNanos[started] = nanoTime.getAsLong();
        started++;
    }

    /** Returns whether {@link #endNext} has ended the bucket in this step. */
    boolean hasEnded(int bucket) {
        return bucket < ended;
    }

    /** Waits for the next bucket in order, and replaces the gradients of the bucket by their averages. */
    void endNext(int contributors) {
        Work work = works[ended];
        long begun = nanoTime.getAsLong();
        work.await();
        waitedNanos += nanoTime.getAsLong() - begun;
        countBusy(startNanos[ended], startNanos[ended] + work.elapsed().toNanos());
        exchanges.get(ended).finish(contributors);
        works[ended] = null;
        ended++;
    }

    /** Adds the time of a bucket during which no earlier bucket was in flight. */
    private void countBusy(long fromNanos, long untilNanos) {
        boolean overlaps = ended > 0 && busyUntilNanos - fromNanos > 0;
        long alone = untilNanos - (overlaps ? busyUntilNanos : fromNanos);
        if (alone > 0) {
            busyNanos += alone;
            busyUntilNanos = untilNanos;
        }
    }

    /** Ends the step. Returns the times of the step and resets the counters. */
    StepTimes end() {
        StepTimes times =
                new StepTimes(Duration.ofNanos(waitedNanos), Duration.ofNanos(Math.max(0, busyNanos - waitedNanos)));
        started = 0;
        ended = 0;
        busyNanos = 0;
        waitedNanos = 0;
        return times;
    }
}
