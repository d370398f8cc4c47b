package ferro.collectives;

import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.concurrent.locks.LockSupport;

/**
 * What whoever has the turn does while nothing moves: looks again at once for a while, then gives way, then sleeps in the medium
 * ({@link WaitBudget}). Belongs to whoever has the turn.
 */
final class Idling {
    private static final long PARK_NANOS = 10_000_000L;
    /** Between two looks of a virtual thread; its wait for data is so much longer at most. */
    private static final long NAP_NANOS = 200_000L;
    /** Looks are counted by yields, but none is later than this and one yield, however long other threads keep the core. */
    private static final long UNLOOKED_MOST_NANOS = 5_000_000L;

    private final Transport transport;
    private final RankContext context;
    private final WaitBudget budget;
    private int misses;
    /** When it began to give way, or when it was time for deadlines since. */
    private long lookedNanos;

    Idling(Transport transport, RankContext context, WaitBudget budget) {
        this.transport = transport;
        this.context = context;
        this.budget = budget;
    }

    /** Returns how often to look at once before giving way. */
    int spins() {
        return budget.spins();
    }

    /** Something moved, or the wait begins. */
    void begin() {
        misses = 0;
    }

    /** Nothing moved: passes a moment without sleeping; returns whether it is time to look at deadlines. */
    boolean missed() {
        misses++;
        if (misses <= budget.spins()) {
            Thread.onSpinWait();
            return false;
        }
        boolean mayYield = misses <= budget.spins() + budget.yields() && misses % budget.yieldsBetweenLooks() != 0;
        return !mayYield || yieldForLong();
    }

    /** Gives way once, which takes as long as the scheduler likes; returns whether that was too long without a look at deadlines. */
    private boolean yieldForLong() {
        if (misses == budget.spins() + 1) {
            lookedNanos = context.nanoTime();
        }
        Thread.yield();
        long now = context.nanoTime();
        if (now - lookedNanos < UNLOOKED_MOST_NANOS) {
            return false;
        }
        lookedNanos = now;
        return true;
    }

    /** Returns whether it has looked long enough. */
    boolean maySleep() {
        return misses > budget.spins() + budget.yields();
    }

    /** Sleeps until something may have moved, and not for long. */
    void sleep(long untilNanos) {
        if (VirtualThreads.isCurrent()) {
            // in the kernel it would keep its carrier, and the ranks queued there would never run
            LockSupport.parkNanos(this, NAP_NANOS);
            return;
        }
        long most = context.nanoTime() + PARK_NANOS;
        transport.park(untilNanos - most < 0 ? untilNanos : most);
    }
}
