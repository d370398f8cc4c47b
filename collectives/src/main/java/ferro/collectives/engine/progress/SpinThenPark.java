package ferro.collectives.engine.progress;

import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.concurrent.locks.LockSupport;

/**
 * What the thread with the progress lock does while nothing moves: it spins for a while, then yields, then sleeps in the
 * transport ({@link WaitBudget}). Belongs to the thread that holds the progress lock.
 */
public final class SpinThenPark {
    /** Longest sleep, whatever the next check is: a clock that jumps, or a fault of a medium, costs at most this time. */
    private static final long MAX_SLEEP_NANOS = 1_000_000_000L;

    /** Time between two polls of a virtual thread that a transport cannot wake, at first and at most. */
    private static final long BACKOFF_NANOS = 200_000L;

    private static final long MAX_BACKOFF_NANOS = 10_000_000L;
    /** A backoff is this part of the time that the thread has waited, so its wait for data is at most this part longer. */
    private static final int BACKOFF_PART = 8;
    /**
     * Yields end after this time and one yield more, however few there were. A yield lasts as long as other threads keep the core,
     * milliseconds where they compute; who sleeps has the core again as soon as something comes. It is more than all yields of a
     * budget take where nobody wants the core.
     */
    private static final long YIELDING_MOST_NANOS = 2_000_000L;

    private final Transport transport;
    private final RankContext context;
    private final WaitBudget budget;
    private int misses;
    /** The misses at the last sleep. */
    private int missesAtSleep;
    /** When it began to yield. */
    private long yieldingSinceNanos;

    /** Makes one that waits in a transport once the budget for polling is used up. */
    public SpinThenPark(Transport transport, RankContext context, WaitBudget budget) {
        this.transport = transport;
        this.context = context;
        this.budget = budget;
    }

    /** Returns how often to spin before yielding. */
    public int spins() {
        return budget.spins();
    }

    /** Notes that something moved, or that the wait begins. */
    public void begin() {
        misses = 0;
    }

    /**
     * Notes that nothing moved, and spins or yields once without sleeping; returns whether it is time to check deadlines.
     */
    public boolean missed() {
        misses++;
        if (misses <= budget.spins()) {
            Thread.onSpinWait();
            return false;
        }
        if (misses == budget.spins() + 1) {
            yieldingSinceNanos = context.nanoTime();
        }
        boolean mayYield = misses <= budget.spins() + budget.yields() && misses % budget.yieldsBetweenLooks() != 0;
        return !mayYield || yieldForLong();
    }

    /** Yields once; returns whether the time for yields is over, and with it the budget. */
    private boolean yieldForLong() {
        Thread.yield();
        if (context.nanoTime() - yieldingSinceNanos < YIELDING_MOST_NANOS) {
            return false;
        }
        misses = Math.max(misses, budget.spins() + budget.yields() + 1);
        return true;
    }

    /** Returns whether the budget is used up, so that it may sleep. */
    public boolean maySleep() {
        return misses > budget.spins() + budget.yields();
    }

    /**
     * Sleeps until something may have moved, until a check may have something to do, or for a time. The thread has just made
     * its checks.
     */
    void sleep(long nowNanos, long limitNanos, CollectiveProgress collectives, MessageProgress messages) {
        boolean isQuiet = misses > missesAtSleep;
        missesAtSleep = misses;
        long check = Math.min(collectives.untilNext(nowNanos, isQuiet), messages.untilNext(nowNanos, isQuiet));
        long nanos = Math.min(check, Math.min(limitNanos, MAX_SLEEP_NANOS));
        if (VirtualThreads.isCurrent() && !transport.parksVirtualThreads()) {
            // a virtual thread in the kernel would keep its carrier, and the ranks queued on that carrier would never
            // run
            long backoff = Math.min(MAX_BACKOFF_NANOS, (nowNanos - yieldingSinceNanos) / BACKOFF_PART);
            LockSupport.parkNanos(this, Math.min(nanos, Math.max(BACKOFF_NANOS, backoff)));
            return;
        }
        transport.park(nowNanos + nanos);
    }
}
