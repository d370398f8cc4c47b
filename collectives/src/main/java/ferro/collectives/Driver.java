package ferro.collectives;

import ferro.recorder.GroupRecorder;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Who drives a group: one thread at a time, whoever holds the turn.
 *
 * <p>The caller of a blocking operation takes the turn and drives until its own operation is done, so that nothing is handed
 * over. Asynchronous operations are driven by the group's progress thread, which is made at the first of them and gives
 * way to callers. Whoever leaves the turn wakes the next.
 */
final class Driver {
    private static final long PARK_NANOS = 10_000_000L;
    /** Between two looks of a virtual thread; its wait for data is so much longer at most. */
    private static final long NAP_NANOS = 200_000L;

    private static final long PROGRESS_PARK_NANOS = 1_000_000_000L;
    private static final long IDLE_MILLIS = 100;
    private static final int MOVES_BETWEEN_CHECKS = 1024;
    /** Looks are counted by yields, but none is later than this and one yield, however long other threads keep the core. */
    private static final long UNLOOKED_MOST_NANOS = 5_000_000L;

    private final Machine machine;
    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final WaitBudget budget;
    private final boolean stepped;
    private final Turn turn = new Turn();
    private final ConcurrentLinkedQueue<Thread> callers = new ConcurrentLinkedQueue<>();
    private final AtomicInteger callersWaiting = new AtomicInteger();
    private volatile Thread progress;
    private ExecutorService dependants;
    private volatile boolean closed;
    /** When whoever has the turn began to give way, or has looked at deadlines since. */
    private long lookedNanos;

    /** What is driven; all methods but those of any thread are called with the turn held. */
    interface Machine {
        /** Does what can be done now; returns whether anything moved. */
        boolean advance();

        /** Looks at deadlines and suspicions; called now and then while nothing moves. */
        void check(long nowNanos);

        /** Fails the group: what waits for its data cannot do so. */
        void broken(Throwable failure);

        /** Ends what an interrupted thread waits for. */
        void interrupted(PendingWork work);

        /** Ends everything after a failure; idempotent. */
        void settle();

        /** Tells ranks that have left what has ended meanwhile; the turn was given back just now. Cheap, any thread. */
        void turnLeft();

        /** Returns how long this process stood still since then; any thread. */
        long pausedSince(long sinceNanos);

        /** Returns whether nothing is pending; any thread. */
        boolean isIdle();

        /** Returns whether there is a failure that {@link #settle} has not dealt with; any thread. */
        boolean hasFailed();

        /** Returns what hears of every operation; any thread. */
        GroupRecorder recorder();
    }

    Driver(Machine machine, Transport transport, GroupSpec group, RankContext context, boolean stepped) {
        this.machine = machine;
        this.transport = transport;
        this.group = group;
        this.context = context;
        this.stepped = stepped;
        this.budget = WaitBudget.of(context, group.worldSize());
    }

    GroupSpec group() {
        return group;
    }

    GroupRecorder recorder() {
        return machine.recorder();
    }

    long nanoTime() {
        return context.nanoTime();
    }

    long pausedSince(long sinceNanos) {
        return machine.pausedSince(sinceNanos);
    }

    /** Runs what users chained; it may block, so never on the background thread, which control messages need. */
    void later(Runnable task) {
        if (stepped) {
            context.background().execute(task);
        } else {
            dependants().execute(task);
        }
    }

    /** Threads for what users chained, as many as block at once; the JDK's own pool has one on a machine of two cores. */
    private synchronized ExecutorService dependants() {
        if (dependants == null) {
            String name = "ferro-" + group.name() + "-" + group.rank() + "-completion";
            dependants = new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, IDLE_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), task -> {
                        Thread thread = new Thread(task, name);
                        thread.setDaemon(true);
                        return thread;
                    });
        }
        return dependants;
    }

    /** Returns the turn, for the direct way of a blocking call. */
    Turn turn() {
        return turn;
    }

    /** Returns how often to look at once before giving way. */
    int spins() {
        return budget.spins();
    }

    /** Refuses what a user's code asks of the group that runs it, to combine elements: it would wait for itself. */
    void refuseInside(String what) {
        if (turn.isMine()) {
            throw new IllegalStateException(what + " on group \"" + group.name() + "\" rank " + group.rank()
                    + " is called from the code of a reduction, which this thread runs for that group: make the call"
                    + " when the collective has ended");
        }
    }

    /** Drives until the work is done; the turn is this thread's already, and stays so. */
    void driveHolding(PendingWork work) {
        turn.own();
        loop(work, false, 0);
    }

    /** Drives, or waits for whoever does, until the work is done. */
    void drive(PendingWork work) {
        refuseIfStepped(work);
        if (!work.isDone()) {
            refuseInside(work.description());
        }
        while (!work.isDone()) {
            if (turn.tryEnter()) {
                try {
                    loop(work, false, 0);
                } finally {
                    leave();
                }
            } else {
                waitForTurn(work, false, 0);
            }
        }
    }

    /** As {@link #drive}, but returns at a time with the work untouched; an interrupt only ends the look. */
    void look(PendingWork work, long untilNanos) {
        refuseIfStepped(work);
        if (!work.isDone()) {
            refuseInside(work.description());
        }
        while (!work.isDone()
                && nanoTime() - untilNanos < 0
                && !Thread.currentThread().isInterrupted()) {
            if (turn.tryEnter()) {
                try {
                    loop(work, true, untilNanos);
                } finally {
                    leave();
                }
            } else {
                waitForTurn(work, true, untilNanos);
            }
        }
    }

    /** Sees to it that somebody drives what was just submitted. */
    void submitted() {
        if (stepped || closed) {
            return;
        }
        if (progress == null) {
            startProgress();
        }
        wakeProgress();
    }

    /** Sees to it that a failure is dealt with, now or by whoever drives. */
    void failed() {
        transport.wakeup();
        settleIfFree();
        wakeProgress();
    }

    /** One turn without waiting; for the stepped form. */
    boolean step() {
        if (!turn.tryEnter()) {
            return false;
        }
        try {
            // as in a loop, what has come is taken before a deadline is looked at
            boolean moved = machine.advance();
            if (!moved) {
                machine.check(nanoTime());
            }
            return moved;
        } finally {
            leave();
        }
    }

    /** Runs something with the turn held, waiting for it at most so long; returns whether it ran. */
    boolean exclusively(Runnable task, long untilNanos) {
        callersWaiting.incrementAndGet();
        boolean interrupted = false;
        try {
            while (!turn.tryEnter()) {
                if (nanoTime() - untilNanos >= 0) {
                    return false;
                }
                transport.wakeup();
                LockSupport.parkNanos(PARK_NANOS / 10);
                // the flag would end every further park at once
                interrupted |= Thread.interrupted();
            }
        } finally {
            callersWaiting.decrementAndGet();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        try {
            task.run();
            return true;
        } finally {
            leave();
        }
    }

    /** Ends the progress thread. */
    void close() {
        closed = true;
        Thread thread = progress;
        if (thread == null || thread == Thread.currentThread()) {
            return;
        }
        transport.wakeup();
        LockSupport.unpark(thread);
        try {
            thread.join(1000);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void refuseIfStepped(PendingWork work) {
        if (stepped && !work.isDone()) {
            throw new IllegalStateException(work.description() + " on group \"" + group.name() + "\" rank "
                    + group.rank() + " would block, and a seeded simulation runs all ranks on one thread: submit it and"
                    + " go on in completion()");
        }
    }

    private void loop(PendingWork work, boolean looking, long untilNanos) {
        int misses = 0;
        int moves = 0;
        while (!work.isDone()) {
            if (machine.advance()) {
                misses = 0;
                if (++moves % MOVES_BETWEEN_CHECKS == 0 && !keepOn(work, looking, untilNanos)) {
                    return;
                }
                continue;
            }
            misses++;
            if (misses <= budget.spins()) {
                Thread.onSpinWait();
            } else if (mayYield(misses)) {
                if (yieldForLong(misses) && !keepOn(work, looking, untilNanos)) {
                    return;
                }
            } else if (!keepOn(work, looking, untilNanos)) {
                return;
            } else if (misses > budget.spins() + budget.yields() && !work.isDone()) {
                park(looking, untilNanos);
            }
        }
    }

    private boolean mayYield(int misses) {
        return misses <= budget.spins() + budget.yields() && misses % budget.yieldsBetweenLooks() != 0;
    }

    /** Gives way once, which takes as long as the scheduler likes; returns whether that was too long without a look at deadlines. */
    private boolean yieldForLong(int misses) {
        if (misses == budget.spins() + 1) {
            lookedNanos = nanoTime();
        }
        Thread.yield();
        long now = nanoTime();
        if (now - lookedNanos < UNLOOKED_MOST_NANOS) {
            return false;
        }
        lookedNanos = now;
        return true;
    }

    /** Looks at clock, interrupt and failure; returns false if the caller should go. */
    private boolean keepOn(PendingWork work, boolean looking, long untilNanos) {
        long now = nanoTime();
        machine.check(now);
        if (Thread.currentThread().isInterrupted()) {
            if (looking) {
                return false;
            }
            machine.interrupted(work);
        }
        return !looking || now - untilNanos < 0;
    }

    private void park(boolean looking, long untilNanos) {
        if (VirtualThreads.isCurrent()) {
            // in the kernel it would keep its carrier, and the ranks queued there would never run
            LockSupport.parkNanos(this, NAP_NANOS);
            return;
        }
        long until = nanoTime() + PARK_NANOS;
        sleep(looking && untilNanos - until < 0 ? untilNanos : until);
    }

    private void sleep(long untilNanos) {
        try {
            transport.park(untilNanos);
        } catch (RuntimeException | Error failure) {
            machine.broken(failure);
        }
    }

    private void waitForTurn(PendingWork work, boolean looking, long untilNanos) {
        Thread me = Thread.currentThread();
        work.waitedForBy(me);
        callers.add(me);
        callersWaiting.incrementAndGet();
        try {
            transport.wakeup();
            while (!work.isDone() && turn.isHeld()) {
                if (me.isInterrupted()) {
                    if (looking) {
                        return;
                    }
                    interruptedWithoutTurn(work);
                } else {
                    LockSupport.parkNanos(this, PARK_NANOS);
                }
                if (looking && nanoTime() - untilNanos >= 0) {
                    return;
                }
            }
        } finally {
            callersWaiting.decrementAndGet();
            callers.remove(me);
            if (!turn.isHeld()) {
                // the wake-up that this thread may have had is for whoever drives next
                wakeNext();
            }
        }
    }

    private void interruptedWithoutTurn(PendingWork work) {
        // the flag must not end the waiting for the turn, and must be set again for the caller
        boolean interrupted = Thread.interrupted();
        try {
            exclusively(() -> machine.interrupted(work), work.deadlineNanos());
            while (!work.isDone() && turn.isHeld()) {
                LockSupport.parkNanos(this, PARK_NANOS);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Gives the turn to the next. */
    void leave() {
        turn.leave();
        machine.turnLeft();
        wakeNext();
        settleIfFree();
    }

    private void wakeNext() {
        Thread next = callers.peek();
        if (next != null) {
            LockSupport.unpark(next);
        } else if (!machine.isIdle()) {
            wakeProgress();
        }
    }

    private void settleIfFree() {
        if (machine.hasFailed() && turn.tryEnter()) {
            try {
                machine.settle();
            } finally {
                turn.leave();
            }
        }
    }

    private synchronized void startProgress() {
        if (progress == null && !closed) {
            Thread thread = new Thread(this::progress, "ferro-" + group.name() + "-" + group.rank() + "-progress");
            thread.setDaemon(true);
            progress = thread;
            thread.start();
        }
    }

    private void wakeProgress() {
        Thread thread = progress;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    private void progress() {
        while (!closed) {
            if (machine.isIdle() || callersWaiting.get() > 0 || !turn.tryEnter()) {
                LockSupport.parkNanos(this, PROGRESS_PARK_NANOS);
                continue;
            }
            try {
                progressLoop();
            } finally {
                leave();
            }
        }
    }

    private void progressLoop() {
        int misses = 0;
        int moves = 0;
        while (!closed && callersWaiting.get() == 0 && !machine.isIdle()) {
            if (machine.advance()) {
                misses = 0;
                if (++moves % MOVES_BETWEEN_CHECKS == 0) {
                    machine.check(nanoTime());
                }
                continue;
            }
            misses++;
            if (misses <= budget.spins()) {
                Thread.onSpinWait();
            } else if (!mayYield(misses)) {
                machine.check(nanoTime());
                if (misses > budget.spins() + budget.yields()) {
                    sleep(nanoTime() + PARK_NANOS);
                }
            } else if (yieldForLong(misses)) {
                machine.check(lookedNanos);
            }
        }
    }
}
