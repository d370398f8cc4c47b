package ferro.collectives.shared;

import java.nio.ByteBuffer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * A view of the sleeping ranks. A word in each rank's segment shows whether the rank sleeps. A rank that has published
 * data in shared memory calls {@link #wake}. {@link #wake} reads a cache line that hardly ever changes, and sends a
 * message only if the word is set.
 *
 * <p>A rank sets its word, polls for another {@link #SETTLE_NANOS}, and then sleeps. So {@link #wake} needs no memory
 * fence. A fence would make each step of each call wait for the cache line that the step has just written. Either
 * {@link #wake} sees the word, or {@link #wake} has read the word before the word was set. If {@link #wake} has read
 * too early, the published data leaves the processor's store buffer while the other rank still polls. A sleep lasts at
 * most 100 ms in any case.
 */
final class SleepingRanks {
    /** Time that a rank polls after the rank has set its word. Other ranks see a write within a microsecond. */
    static final long SETTLE_NANOS = 20_000;

    private final int rank;
    private final int word;
    private final ByteBuffer[] areas;
    private final LongSupplier clock;
    private final IntConsumer doorbell;
    private boolean armed;
    private long armedNanos;
    /** Whether {@link #SETTLE_NANOS} had passed at the last call of {@link #maySleep}. */
    private boolean settled;

    private int looksSince;

    /**
     * Makes the view of one rank.
     *
     * @param word  offset of the word in each segment
     * @param areas segments of this rank and the other ranks of its host; null for ranks of other hosts
     * @param clock clock in nanoseconds
     * @param doorbell called to wake a rank that may sleep
     */
    SleepingRanks(int rank, int word, ByteBuffer[] areas, LongSupplier clock, IntConsumer doorbell) {
        this.rank = rank;
        this.word = word;
        this.areas = areas;
        this.clock = clock;
        this.doorbell = doorbell;
    }

    /**
     * Wakes a rank of the same host if the rank sleeps. The caller calls this method after publishing data for the
     * rank.
     */
    void wake(int peer) {
        if (ProgressCounters.acquire(areas[peer], word) != 0 && ProgressCounters.replace(areas[peer], word, 1, 0)) {
            doorbell.accept(peer);
        }
    }

    /** Returns whether this rank may sleep now. A rank that may not sleep must first poll for all data. */
    boolean maySleep() {
        looksSince = 0;
        if (!armed || ProgressCounters.acquire(areas[rank], word) == 0) {
            // a rank that wakes this rank clears the word, but its data may have been for another wait
            armed = true;
            settled = false;
            armedNanos = clock.getAsLong();
            ProgressCounters.publish(areas[rank], word, 1);
            return false;
        }
        boolean wasSettled = settled;
        settled = clock.getAsLong() - armedNanos >= SETTLE_NANOS;
        // the last poll may be as old as the last time slice of this thread, so one more poll finds what has arrived
        return wasSettled;
    }

    /**
     * Records a poll for all data that may have come. Two polls without a call of {@link #maySleep} between them mean
     * that this rank is awake.
     */
    void looked() {
        if (armed && ++looksSince > 1) {
            awake();
        }
    }

    /** Clears this rank's word, because this rank does not sleep. */
    void awake() {
        if (armed) {
            armed = false;
            ProgressCounters.release(areas[rank], word, 0);
        }
    }
}
