package ferro.training;

import ferro.Work;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/** The buckets of one step that travel: starts them in order, waits for them in order, and counts the time. */
final class BucketsUnderWay {
    private final List<GradientHook.Exchange> exchanges;
    private final LongSupplier nanoTime;
    private final Work[] works;
    private final long[] startNanos;
    private int started;
    private int ended;
    /** Until when a bucket was under way so far. */
    private long busyUntilNanos;

    private long busyNanos;
    private long waitedNanos;

    BucketsUnderWay(List<GradientHook.Exchange> exchanges, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.exchanges = List.copyOf(exchanges);
        works = new Work[exchanges.size()];
        startNanos = new long[works.length];
    }

    /** Returns the bucket that is started next; the number of buckets if there is none. */
    int next() {
        return started;
    }

    void startNext(int contributors) {
        works[started] = exchanges.get(started).start(contributors);
        startNanos[started] = nanoTime.getAsLong();
        started++;
    }

    /** Returns whether a bucket was waited for. */
    boolean hasEnded(int bucket) {
        return bucket < ended;
    }

    /** Waits for the next bucket in order. */
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

    /** Counts the time of a bucket during which no earlier one was under way. */
    private void countBusy(long fromNanos, long untilNanos) {
        boolean overlaps = ended > 0 && busyUntilNanos - fromNanos > 0;
        long alone = untilNanos - (overlaps ? busyUntilNanos : fromNanos);
        if (alone > 0) {
            busyNanos += alone;
            busyUntilNanos = untilNanos;
        }
    }

    /** Ends the step. */
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
