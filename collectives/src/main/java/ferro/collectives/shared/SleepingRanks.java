package ferro.collectives.shared;

import java.nio.ByteBuffer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * A view of the sleeping ranks, by a word in each rank's segment. A rank that has published data in shared memory calls
 * {@link #wake}. This method reads a cache line that hardly ever changes, and sends a message only if the word is set.
 *
 * <p>A rank sets its word, polls for another {@link #SETTLE_NANOS}, and then sleeps. So {@link #wake} needs no fence. A
 * fence would make each step of each call wait for the cache line that the step has just written. Either {@link #wake}
 * sees the word, or it has read before the word was set. In the second case, the data that was published before leaves
 * the processor's store buffer while the other rank still polls. A sleep lasts at most 100 ms in any case.
 */
final class SleepingRanks {
    /** Time that a rank polls with its word set. Other ranks see a write within a microsecond. */
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
     * @param areas segments of the ranks of the same host, including this rank; null for other ranks
     * @param clock clock in nanoseconds
     * @param doorbell wakes a rank that may sleep
     */
    SleepingRanks(int rank, int word, ByteBuffer[] areas, LongSupplier clock, IntConsumer doorbell) {
        this.rank = rank;
        this.word = word;
        this.areas = areas;
        this.clock = clock;
        this.doorbell = doorbell;
    }

    /** Wakes a rank of the same host if the rank sleeps. The caller has published data for the rank. */
    void wake(int peer) {
        if (ProgressWords.acquire(areas[peer], word) != 0 && ProgressWords.replace(areas[peer], word, 1, 0)) {
            doorbell.accept(peer);
        }
    }

    /** Returns whether this rank may sleep now. If not, the rank must first poll everything that may have come. */
    boolean maySleep() {
        looksSince = 0;
        if (!armed || ProgressWords.acquire(areas[rank], word) == 0) {
            // a rank that wakes this rank clears the word, but its data may have been for another wait
            armed = true;
            settled = false;
            armedNanos = clock.getAsLong();
            ProgressWords.publish(areas[rank], word, 1);
            return false;
        }
        boolean wasSettled = settled;
        settled = clock.getAsLong() - armedNanos >= SETTLE_NANOS;
        // the last poll may be as old as the last time slice of this thread, so one more poll finds what has arrived
        return wasSettled;
    }

    /**
     * Records a poll of everything that may have come. Two polls without a call of {@link #maySleep} between them mean
     * that this rank is awake.
     */
    void looked() {
        if (armed && ++looksSince > 1) {
            awake();
        }
    }

    /** Clears the word. */
    void awake() {
        if (armed) {
            armed = false;
            ProgressWords.release(areas[rank], word, 0);
        }
    }
}
