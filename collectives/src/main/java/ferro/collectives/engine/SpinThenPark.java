package ferro.collectives.engine;

import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.locks.LockSupport;

/**
 * What the thread with the progress lock does while nothing moves: it spins for a while, then yields, then sleeps in
 * the transport ({@link WaitBudget}). Belongs to the thread that holds the progress lock.
 */
final class SpinThenPark {
    /** Longest sleep: a clock that jumps, or a fault of a medium, costs at most this time. */
    private static final long MAX_SLEEP_NANOS = 1_000_000_000L;

    /** Time between two polls of a virtual thread that a transport cannot wake, at first and at most. */
    private static final long BACKOFF_NANOS = 200_000L;

    private static final long MAX_BACKOFF_NANOS = 10_000_000L;
    /** A backoff is this part of the time waited so far, so a wait for data is at most this part longer. */
    private static final int BACKOFF_PART = 8;
    /**
     * Yields end after this time and one yield more, however few there were. A yield lasts as long as other threads
     * keep the core, milliseconds where they compute; who sleeps has the core again as soon as something comes. It is
     * more than all yields of a budget take where nobody wants the core.
     */
    private static final long YIELDING_MOST_NANOS = 2_000_000L;

    /** Null on a JDK without virtual threads. */
    private static final MethodHandle IS_VIRTUAL = findIsVirtual();

    private final Transport transport;
    private final RankContext context;
    private final WaitBudget budget;
    private int misses;
    private int missesAtSleep;
    private long yieldingSinceNanos;

    SpinThenPark(Transport transport, RankContext context, WaitBudget budget) {
        this.transport = transport;
        this.context = context;
        this.budget = budget;
    }

    /** Returns how often to spin before yielding. */
    int spins() {
        return budget.spins();
    }

    /** Notes that something moved, or that the wait begins. */
    void begin() {
        misses = 0;
    }

    /**
     * Notes that nothing moved, and spins or yields once without sleeping; returns whether it is time to check
     * deadlines.
     */
    boolean missed() {
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

    boolean maySleep() {
        return misses > budget.spins() + budget.yields();
    }

    /** Returns whether nothing has moved since the last sleep. */
    boolean isQuiet() {
        return misses > missesAtSleep;
    }

    /** Sleeps until something may have moved, or for a time. The thread has just made its checks. */
    void sleep(long nowNanos, long limitNanos) {
        missesAtSleep = misses;
        long nanos = Math.min(limitNanos, MAX_SLEEP_NANOS);
        if (isVirtual() && !transport.parksVirtualThreads()) {
            // a virtual thread in the kernel would keep its carrier, and the ranks queued on that carrier would never
            // run
            long backoff = Math.min(MAX_BACKOFF_NANOS, (nowNanos - yieldingSinceNanos) / BACKOFF_PART);
            LockSupport.parkNanos(this, Math.min(nanos, Math.max(BACKOFF_NANOS, backoff)));
            return;
        }
        transport.park(nowNanos + nanos);
    }

    /** Returns whether this thread releases its carrier to other threads while it is parked, and only then. */
    private static boolean isVirtual() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable undeclared) {
            throw new IllegalStateException(
                    "Thread.isVirtual of JDK " + Runtime.version() + " threw an exception: report this as a bug",
                    undeclared);
        }
    }

    private static MethodHandle findIsVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException before21) {
            return null;
        }
    }
}
