package ferro.collectives.engine;

import ferro.collectives.engine.PendingWork.StopCondition;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureFactory;
import ferro.control.group.CompletionThreads;
import ferro.control.group.GroupControl;
import ferro.recorder.GroupRecorder;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The loop that makes progress on the operations and messages of a group. Only the thread that holds the progress lock
 * runs the loop.
 *
 * <p>The caller of a blocking operation takes the lock and runs the loop until its own operation is done, so that no
 * work is passed to another thread. The progress thread of the group makes progress on asynchronous operations. The
 * first asynchronous operation starts the progress thread, and the progress thread yields to callers. A thread that
 * releases the lock wakes the next thread.
 */
final class ProgressLoop {
    private static final long PARK_NANOS = 10_000_000L;
    private static final long PROGRESS_PARK_NANOS = 1_000_000_000L;
    private static final int MOVES_BETWEEN_CHECKS = 1024;

    private final LoopOwner owner;
    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final boolean stepped;
    private final IdleStrategy idleStrategy;
    private final CompletionThreads completions;
    private final ProgressLock lock = new ProgressLock();
    private final ConcurrentLinkedQueue<Thread> callers = new ConcurrentLinkedQueue<>();
    private final AtomicInteger callersWaiting = new AtomicInteger();
    private GroupControl control;
    private OperationQueue collectives;
    private PointToPointQueue messages;
    private volatile Thread progress;
    private volatile boolean closed;
    /** Whether the next iteration takes messages that no call of this rank waits for. Guarded by the progress lock. */
    private boolean listens;

    interface LoopOwner {
        /**
         * Ends all operations after a failure. Idempotent. The caller holds the progress lock. Only the first call
         * after a failure returns true.
         */
        boolean settle();

        /** Returns whether {@link #settle} has anything to do. Thread-safe. */
        boolean hasToSettle();

        /** Returns how many nanoseconds this process was paused since the time {@code sinceNanos}. Thread-safe. */
        long pausedSince(long sinceNanos);

        /** Returns the recorder of every operation. Thread-safe. */
        GroupRecorder recorder();
    }

    /** Creates a loop without work. If {@code stepped}, the caller makes progress by steps, and no thread waits. */
    ProgressLoop(LoopOwner owner, Transport transport, GroupSpec group, RankContext context, boolean stepped) {
        this.owner = owner;
        this.transport = transport;
        this.group = group;
        this.context = context;
        this.stepped = stepped;
        this.idleStrategy = new IdleStrategy(transport, context, PollBudget.of(context, group.worldSize()));
        this.completions = new CompletionThreads(task -> newThread(task, "completion"));
    }

    /** Sets the objects on which the loop makes progress, before the first submission and the first event. */
    void serve(GroupControl failures, OperationQueue operations, PointToPointQueue pointToPoint) {
        control = failures;
        collectives = operations;
        messages = pointToPoint;
    }

    GroupSpec group() {
        return group;
    }

    String self() {
        return control.self();
    }

    GroupRecorder recorder() {
        return owner.recorder();
    }

    long nanoTime() {
        return context.nanoTime();
    }

    long pausedSince(long sinceNanos) {
        return owner.pausedSince(sinceNanos);
    }

    /**
     * Runs a stage that a user chained. The stage may block, so it runs on a thread for completions. If the thread
     * cannot be made, the stage runs on the background thread, which has other work, and the group fails.
     */
    void later(Runnable stage) {
        if (stepped) {
            context.background().execute(stage);
            return;
        }
        try {
            completions.execute(stage);
        } catch (OutOfMemoryError noThread) {
            context.background().execute(stage);
            broken(noThread);
        }
    }

    private Thread newThread(Runnable task, String role) {
        return context.newThread(task, "ferro-" + group.name() + "-" + group.rank() + "-" + role);
    }

    /** Returns the progress lock, for the fast path of a blocking call. */
    ProgressLock lock() {
        return lock;
    }

    /** Returns the threads in calls of this group, which run the loop or wait for the progress lock. Thread-safe. */
    List<Thread> callers() {
        List<Thread> all = new ArrayList<>(callers);
        Thread holder = lock.holder();
        if (holder != null && holder != progress) {
            all.add(0, holder);
        }
        return all;
    }

    int spins() {
        return idleStrategy.spins();
    }

    /** Returns whether nothing is pending. Thread-safe. */
    boolean isIdle() {
        return collectives.isIdle() && messages.isIdle();
    }

    /** Refuses a call from the code of a reduction that the group runs, because the call would wait for itself. */
    void refuseInside(String what) {
        if (lock.isMine()) {
            throw new IllegalStateException(what + " on group \"" + group.name() + "\" rank " + group.rank()
                    + " is called from inside a user-defined reduction, which this thread runs for that "
                    + "group: make the call after the collective has ended");
        }
    }

    /**
     * Runs the loop until the work is done, or waits for the thread that runs the loop. With {@link
     * StopCondition#TIME}, this method also returns at {@code untilNanos} or at an interrupt, and leaves the work
     * untouched.
     */
    void await(PendingWork work, StopCondition until, long untilNanos) {
        if (!work.isDone()) {
            refuseIfStepped(work);
            refuseInside(work.description());
        }
        while (!work.isDone() && (until == StopCondition.DONE || mayLook(untilNanos))) {
            if (lock.tryEnter()) {
                try {
                    run(work, until, untilNanos);
                } finally {
                    leave();
                }
            } else {
                waitForTurn(work, until, untilNanos);
            }
        }
    }

    private boolean mayLook(long untilNanos) {
        return nanoTime() - untilNanos < 0 && !Thread.currentThread().isInterrupted();
    }

    /** Makes sure that a thread makes progress on the operation that was just submitted. */
    void submitted() {
        if (stepped || closed) {
            return;
        }
        if (progress == null) {
            try {
                startProgress();
            } catch (OutOfMemoryError noThread) {
                // the submitted operation would never move, and the other ranks would wait for it
                broken(noThread);
            }
        }
        wakeProgress();
        if (lock.isHeld()) { // the holder may sleep
            transport.wakeup();
        }
    }

    /** Makes sure that a failure is handled, now or by the thread that holds the progress lock. */
    void failed() {
        transport.wakeup();
        settleIfFree();
        wakeProgress();
    }

    /** Fails the group after an exception in the loop. An operation that waits for data cannot fail the group. */
    private void broken(Throwable failure) {
        control.fail(FailureFactory.inside(group, control.self(), failure));
    }

    /** Does one iteration without waiting, unless another thread holds the lock; returns whether anything moved. */
    boolean step() {
        if (!lock.tryEnter()) {
            return false;
        }
        try {
            return run(null, StopCondition.ONE_ITERATION, 0);
        } finally {
            leave();
        }
    }

    /** Waits until {@code untilNanos} for the progress lock, and runs a task with it. Returns whether the task ran. */
    boolean exclusively(Runnable task, long untilNanos) {
        callersWaiting.incrementAndGet();
        boolean interrupted = false;
        try {
            while (!lock.tryEnter()) {
                if (nanoTime() - untilNanos >= 0) {
                    return false;
                }
                transport.wakeup();
                LockSupport.parkNanos(PARK_NANOS / 10);
                // while the interrupt flag is set, every park returns at once
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
        if (stepped) {
            throw new IllegalStateException(work.description() + " on group \"" + group.name() + "\" rank "
                    + group.rank() + " would block, and a seeded simulation runs all ranks on one thread: submit it and"
                    + " go on in completion()");
        }
    }

    /**
     * Runs the loop. The caller holds the progress lock. An iteration makes all progress that is possible without
     * waiting. The body of an iteration is in this method to keep the number of frames between the links and a user's
     * call as small as possible. Returns whether anything moved in the last iteration. {@code work} is null if the loop
     * does not run for a single operation.
     */
    boolean run(PendingWork work, StopCondition until, long untilNanos) {
        idleStrategy.begin();
        boolean moved = false;
        int moves = 0;
        while (goesOn(work, until, moves)) {
            if (control.failure() != null) {
                moved = owner.settle();
            } else {
                try {
                    moved = false;
                    for (OperationExecutor machine = collectives.begin();
                            machine != null;
                            machine = collectives.begin()) {
                        moved |= machine.advance();
                        if (!machine.isFinished()) {
                            break;
                        }
                        collectives.finish();
                        moved = true;
                    }
                    boolean hears = listens || !messages.isIdle();
                    moved |= hears && messages.advance(listens);
                    moved |= (hears || collectives.usesLinks()) && transport.poll();
                    listens &= moved;
                } catch (RuntimeException | Error failure) {
                    broken(failure);
                    moved = true;
                }
            }
            if (isTimeToLook(moved, moved ? ++moves : 0, until) && !keepsOn(work, until, untilNanos, moved)) {
                break;
            }
        }
        return moved;
    }

    private boolean goesOn(PendingWork work, StopCondition until, int moves) {
        return switch (until) {
            case DONE, TIME -> !work.isDone();
            case IDLE -> !closed && callersWaiting.get() == 0 && !isIdle();
            case ONE_ITERATION -> moves == 0;
        };
    }

    /** Spins or yields once if nothing moved; returns whether it is time to check deadlines. */
    private boolean isTimeToLook(boolean moved, int moves, StopCondition until) {
        if (moved) {
            idleStrategy.begin();
            return moves % MOVES_BETWEEN_CHECKS == 0;
        }
        return until == StopCondition.ONE_ITERATION || idleStrategy.missed();
    }

    /** Checks clock and interrupt, and sleeps after enough polls. Returns false if the caller should leave the loop. */
    private boolean keepsOn(PendingWork work, StopCondition until, long untilNanos, boolean moved) {
        long now = nanoTime();
        check(now);
        if (until == StopCondition.ONE_ITERATION) {
            return false;
        }
        if (until != StopCondition.IDLE && Thread.currentThread().isInterrupted()) {
            if (until == StopCondition.TIME) {
                return false;
            }
            interrupted(work);
        }
        if (until == StopCondition.TIME && now - untilNanos >= 0) {
            return false;
        }
        if (!moved && idleStrategy.maySleep() && (work == null || !work.isDone())) {
            sleep(now, until == StopCondition.TIME ? untilNanos - now : Long.MAX_VALUE);
        }
        return true;
    }

    private void check(long nowNanos) {
        try {
            collectives.check(nowNanos);
            messages.check(nowNanos);
            // notifies ranks that leave now, so that they do not wait for a call that goes on for other reasons
            control.exits().confirm();
            // an iteration runs between this check and a sleep; a seeded run has no iteration that only waits
            listens = !stepped;
        } catch (RuntimeException | Error failure) {
            broken(failure);
        }
    }

    private void sleep(long nowNanos, long limitNanos) {
        try {
            boolean isQuiet = idleStrategy.isQuiet();
            long check = Math.min(collectives.untilNext(nowNanos, isQuiet), messages.untilNext(nowNanos, isQuiet));
            idleStrategy.sleep(nowNanos, Math.min(check, limitNanos));
        } catch (RuntimeException | Error failure) {
            broken(failure);
        }
    }

    /** Ends the operation for which an interrupted thread waits. The caller holds the progress lock. */
    private void interrupted(PendingWork work) {
        if (!work.isDone() && !messages.interrupted(work)) {
            Failure interrupt = FailureFactory.interrupted(group, control.self(), work.description(), work.sequence());
            // only this call throws the interrupt; for the group and for the other ranks, this rank aborted
            work.interrupted(interrupt);
            control.fail(interrupt);
        }
    }

    private void waitForTurn(PendingWork work, StopCondition until, long untilNanos) {
        Thread me = Thread.currentThread();
        work.waitedForBy(me);
        callers.add(me);
        callersWaiting.incrementAndGet();
        try {
            transport.wakeup();
            while (!work.isDone() && lock.isHeld()) {
                if (me.isInterrupted()) {
                    if (until == StopCondition.TIME) {
                        return;
                    }
                    interruptedWithoutTurn(work);
                } else {
                    LockSupport.parkNanos(this, PARK_NANOS);
                }
                if (until == StopCondition.TIME && nanoTime() - untilNanos >= 0) {
                    return;
                }
            }
        } finally {
            callersWaiting.decrementAndGet();
            callers.remove(me);
            if (!lock.isHeld()) {
                // the next thread that takes the progress lock needs a wake-up that this thread may have received
                wakeNext();
            }
        }
    }

    private void interruptedWithoutTurn(PendingWork work) {
        // the interrupt flag must not end the wait for the progress lock, and is set again for the caller
        boolean interrupted = Thread.interrupted();
        try {
            exclusively(() -> interrupted(work), work.deadlineNanos());
            while (!work.isDone() && lock.isHeld()) {
                LockSupport.parkNanos(this, PARK_NANOS);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Releases the progress lock and wakes the next thread. */
    void leave() {
        lock.leave();
        // notifies ranks that have left of the operations that have ended meanwhile
        control.exits().confirm();
        wakeNext();
        settleIfFree();
    }

    private void wakeNext() {
        Thread next = callers.peek();
        if (next != null) {
            LockSupport.unpark(next);
        } else if (!isIdle()) {
            wakeProgress();
        }
    }

    private void settleIfFree() {
        if (owner.hasToSettle() && lock.tryEnter()) {
            try {
                owner.settle();
            } finally {
                lock.leave();
            }
        }
    }

    private synchronized void startProgress() {
        if (progress == null && !closed) {
            Thread thread = newThread(this::progress, "progress");
            thread.start();
            progress = thread;
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
            if (isIdle() || callersWaiting.get() > 0 || !lock.tryEnter()) {
                LockSupport.parkNanos(this, PROGRESS_PARK_NANOS);
                continue;
            }
            try {
                run(null, StopCondition.IDLE, 0);
            } finally {
                leave();
            }
        }
    }
}
