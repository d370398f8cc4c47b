package ferro.collectives.shared;

import java.nio.ByteBuffer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Who sleeps, told by a word in each rank's area. Whoever has told something in shared memory calls {@link #wake}: a look at
 * a line that hardly ever changes, and a message only where the word is set.
 *
 * <p>A rank sets its word, goes on looking for {@link #SETTLE_NANOS}, and sleeps then. So {@link #wake} needs no fence,
 * which would make each step of each call wait for the line that it has just written: either it sees the word, or it read
 * before the word was set, and then what it told just before leaves its processor's store buffer while the sleeper still
 * looks. A sleep lasts 10 ms at most in any case.
 */
final class Sleepers {
    /** How long a rank looks on with its word set; what is written is seen by others within a microsecond. */
    static final long SETTLE_NANOS = 20_000;

    private final int rank;
    private final int word;
    private final ByteBuffer[] areas;
    private final LongSupplier clock;
    private final IntConsumer bell;
    private boolean armed;
    private long armedNanos;
    /** Whether that was long enough ago at the last wish to sleep. */
    private boolean settled;

    private int looksSince;

    /**
     * Makes the view of one rank.
     *
     * @param word  where in each area the word lies
     * @param areas of the ranks that are near, this one among them; null for the others
     * @param clock nanoseconds
     * @param bell  wakes a rank that may sleep
     */
    Sleepers(int rank, int word, ByteBuffer[] areas, LongSupplier clock, IntConsumer bell) {
        this.rank = rank;
        this.word = word;
        this.areas = areas;
        this.clock = clock;
        this.bell = bell;
    }

    /** Wakes a near rank if it sleeps; called after something was told to it. */
    void wake(int peer) {
        if (Words.acquire(areas[peer], word) != 0 && Words.replace(areas[peer], word, 1, 0)) {
            bell.accept(peer);
        }
    }

    /** Returns whether this rank may sleep now; else it has to look first at all that may have come. */
    boolean maySleep() {
        looksSince = 0;
        if (!armed || Words.acquire(areas[rank], word) == 0) {
            // somebody who wakes takes the word away, and what it told may have been for another wait
            armed = true;
            settled = false;
            armedNanos = clock.getAsLong();
            Words.publish(areas[rank], word, 1);
            return false;
        }
        boolean wasSettled = settled;
        settled = clock.getAsLong() - armedNanos >= SETTLE_NANOS;
        // the last look may be as old as the last slice of this thread: one more, now that all has arrived
        return wasSettled;
    }

    /** Notes a look at all that may have come; two without a wish to sleep in between say that this rank is awake. */
    void looked() {
        if (armed && ++looksSince > 1) {
            awake();
        }
    }

    /** Takes the word away. */
    void awake() {
        if (armed) {
            armed = false;
            Words.release(areas[rank], word, 0);
        }
    }
}
