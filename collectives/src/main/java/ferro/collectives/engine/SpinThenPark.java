package ferro.collectives.engine;

import ferro.collectives.engine.ProgressLoop.CollectiveProgress;
import ferro.collectives.engine.ProgressLoop.MessageProgress;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.Transport;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
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

    /** Null on a JDK without virtual threads. */
    private static final MethodHandle IS_VIRTUAL = findIsVirtual();

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

    /**
     * How long the thread with the progress lock polls before it blocks: it first spins, then yields, then parks.
     *
     * <p>Waking a thread costs 15 to 50 µs, while a whole small all-reduce takes 5 to 10: hence the polling. If every rank has a
     * core of its own, polling costs the others nothing. If ranks share cores, polling has to end soon. Linux's sched_yield does
     * not yield to a thread that has had more than its share of the core, so that a waiting rank can hold the core for a whole
     * slice, 1.4 to 2.5 ms. Only a rank that sleeps lets the other thread go on (docs/guide/tune.md, "More ranks than cores").
     *
     * @param spins  polls with {@link Thread#onSpinWait}
     * @param yields polls with {@link Thread#yield} after them
     * @param yieldsBetweenLooks number of those yields between two checks of clock, deadline and interrupt
     */
    public record WaitBudget(int spins, int yields, int yieldsBetweenLooks) {
        private static final int SPINS = 200;
        private static final int YIELDS = 2000;
        /** 35 µs if no other thread takes the core. With 50 yields, four ranks on two cores slept more often than necessary. */
        private static final int YIELDS_ON_SHARED_CORES = 100;

        private static final int YIELDS_BETWEEN_LOOKS = 64;
        /** Smaller, because there each yield may last a slice of the scheduler. */
        private static final int YIELDS_BETWEEN_LOOKS_ON_SHARED_CORES = 8;

        /** Returns the budget for the settings and the cores of this rank. {@code ferro.spin.count} sets the number of polls. */
        public static WaitBudget of(RankContext context, int worldSize) {
            int local = Settings.LOCAL_WORLD_SIZE.find(context).orElse(worldSize);
            // a bound rank sees its own cores only, while each other rank has as many: so the launcher, or the
            // context, counts them
            int cores = Settings.LOCAL_CORES
                    .find(context)
                    .orElse(Runtime.getRuntime().availableProcessors());
            WaitBudget ofCores = local <= cores
                    ? new WaitBudget(SPINS, YIELDS, YIELDS_BETWEEN_LOOKS)
                    : new WaitBudget(0, YIELDS_ON_SHARED_CORES, YIELDS_BETWEEN_LOOKS_ON_SHARED_CORES);
            return Settings.SPIN_COUNT.find(context).map(ofCores::limited).orElse(ofCores);
        }

        /** Returns a budget of so many polls: spins come first, as far as this budget has them, then yields. */
        private WaitBudget limited(int polls) {
            int first = Math.min(spins, polls);
            return new WaitBudget(first, polls - first, yieldsBetweenLooks);
        }
    }
}
