package ferro.collectives.engine;

import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.locks.LockSupport;

/**
 * The wait of the thread with the progress lock while nothing moves. The thread spins for a while, then yields, then
 * sleeps in the transport ({@link PollBudget}). Guarded by the progress lock.
 */
final class IdleStrategy {
    /** Longest sleep. A clock that jumps or a fault of a medium delays this rank by at most this time. */
    private static final long MAX_SLEEP_NANOS = 1_000_000_000L;

    /** Shortest time between two polls of a virtual thread that a transport cannot wake. */
    private static final long BACKOFF_NANOS = 200_000L;

    private static final long MAX_BACKOFF_NANOS = 10_000_000L;
    /**
     * Divisor of the time that a wait has already lasted. The quotient is the backoff, so a wait is at most this part
     * longer.
     */
    private static final int BACKOFF_PART = 8;
    /**
     * Time after which yields end, even if the budget has more yields. The last yield may take longer. A yield lasts as
     * long as other threads use the core, which is milliseconds if the other threads compute. A thread that sleeps gets
     * the core back as soon as data arrives. If no other thread wants the core, all yields of a budget take less than
     * {@code YIELDING_MOST_NANOS}.
     */
    private static final long YIELDING_MOST_NANOS = 2_000_000L;

    /** The method {@code Thread.isVirtual}; null on a JDK without virtual threads. */
    private static final MethodHandle IS_VIRTUAL = findIsVirtual();

    private final Transport transport;
    private final RankContext context;
    private final PollBudget budget;
    private int misses;
    private int missesAtSleep;
    private long yieldingSinceNanos;

    IdleStrategy(Transport transport, RankContext context, PollBudget budget) {
        this.transport = transport;
        this.context = context;
        this.budget = budget;
    }

    /** Returns the number of spins before the first yield. */
    int spins() {
        return budget.spins();
    }

    /** Records that something moved, or that a wait begins. */
    void begin() {
        misses = 0;
    }

    /** Records that nothing moved, and spins or yields once. Returns whether it is time to check deadlines. */
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

    /** Yields once. Returns whether the time for yields has passed. If the time has passed, the budget is used up. */
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

    /** Sleeps until something may have moved, at most for {@code limitNanos}. The caller has just checked deadlines. */
    void sleep(long nowNanos, long limitNanos) {
        missesAtSleep = misses;
        long nanos = Math.min(limitNanos, MAX_SLEEP_NANOS);
        if (isVirtual() && !transport.parksVirtualThreads()) {
            // a virtual thread that sleeps in the kernel would keep its carrier thread, and ranks queued on the carrier
            // would never run
            long backoff = Math.min(MAX_BACKOFF_NANOS, (nowNanos - yieldingSinceNanos) / BACKOFF_PART);
            LockSupport.parkNanos(this, Math.min(nanos, Math.max(BACKOFF_NANOS, backoff)));
            return;
        }
        transport.park(nowNanos + nanos);
    }

    /** Returns whether this thread is virtual. A virtual thread that parks releases its carrier to other threads. */
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
