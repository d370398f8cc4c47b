package ferro.collectives;

import ferro.collectives.control.Failure;
import ferro.collectives.control.GroupControl;
import ferro.recorder.GroupRecorder;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes the operations and messages of a group forward, and polls its medium: one thread at a time, whoever has the turn.
 *
 * <p>The caller of a blocking operation takes the turn and runs the loop until its own operation is done, so that nothing is
 * handed over. Asynchronous operations are taken forward by the group's progress thread, which is made at the first of them and
 * gives way to callers. Whoever leaves the turn wakes the next.
 */
final class ProgressLoop {
    private static final long PARK_NANOS = 10_000_000L;
    private static final long PROGRESS_PARK_NANOS = 1_000_000_000L;
    private static final int MOVES_BETWEEN_CHECKS = 1024;

    private final Owner owner;
    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final boolean stepped;
    private final Idling idling;
    private final CompletionThreads completions;
    private final Turn turn = new Turn();
    private final ConcurrentLinkedQueue<Thread> callers = new ConcurrentLinkedQueue<>();
    private final AtomicInteger callersWaiting = new AtomicInteger();
    private GroupControl control;
    private OperationQueue operations;
    private PointToPoint messages;
    private volatile Thread progress;
    private volatile boolean closed;
    /** Whether the next turn takes messages that nobody here waits for; belongs to whoever has the turn. */
    private boolean listens;

    /** How long a run of the loop lasts. */
    enum Until {
        /** Until the work is done. */
        DONE,
        /** Until it is done, a time, or an interrupt. */
        TIME,
        /** Until nothing is pending or a caller wants the turn. */
        IDLE,
        /** For one turn, without waiting. */
        ONE_TURN
    }

    /** Whose loop it is. */
    interface Owner {
        /** Ends everything after a failure; idempotent, with the turn held. Returns whether it was the first time. */
        boolean settle();

        /** Returns whether there is something that {@link #settle} has not dealt with; any thread. */
        boolean hasToSettle();

        /** Returns how long this process stood still since then; any thread. */
        long pausedSince(long sinceNanos);

        /** Returns what hears of every operation; any thread. */
        GroupRecorder recorder();
    }

    ProgressLoop(Owner owner, Transport transport, GroupSpec group, RankContext context, boolean stepped) {
        this.owner = owner;
        this.transport = transport;
        this.group = group;
        this.context = context;
        this.stepped = stepped;
        this.idling = new Idling(transport, context, WaitBudget.of(context, group.worldSize()));
        this.completions = new CompletionThreads("ferro-" + group.name() + "-" + group.rank() + "-completion");
    }

    /** Says what is taken forward; before anything is submitted or told. */
    void serve(GroupControl failures, OperationQueue collectives, PointToPoint pointToPoint) {
        control = failures;
        operations = collectives;
        messages = pointToPoint;
    }

    GroupSpec group() {
        return group;
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

    /** Runs what users chained; it may block, so never on the background thread, which control messages need. */
    void later(Runnable task) {
        if (stepped) {
            context.background().execute(task);
        } else {
            completions.execute(task);
        }
    }

    /** Returns the turn, for the direct way of a blocking call. */
    Turn turn() {
        return turn;
    }

    /** Returns how often to look at once before giving way. */
    int spins() {
        return idling.spins();
    }

    /** Returns whether nothing is pending; any thread. */
    boolean isIdle() {
        return operations.isIdle() && messages.isIdle();
    }

    /** Refuses what a user's code asks of the group that runs it, to combine elements: it would wait for itself. */
    void refuseInside(String what) {
        if (turn.isMine()) {
            throw new IllegalStateException(what + " on group \"" + group.name() + "\" rank " + group.rank()
                    + " is called from the code of a reduction, which this thread runs for that group: make the call"
                    + " when the collective has ended");
        }
    }

    /**
     * Runs the loop, or waits for whoever does, until the work is done, or, by {@link Until#TIME}, returns with the work untouched:
     * there an interrupt only ends the look.
     */
    void await(PendingWork work, Until until, long untilNanos) {
        if (!work.isDone()) {
            refuseIfStepped(work);
            refuseInside(work.description());
        }
        while (!work.isDone() && (until == Until.DONE || mayLook(untilNanos))) {
            if (turn.tryEnter()) {
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

    /** Sees to it that somebody takes forward what was just submitted. */
    void submitted() {
        if (stepped || closed) {
            return;
        }
        if (progress == null) {
            startProgress();
        }
        wakeProgress();
    }

    /** Sees to it that a failure is dealt with, now or by whoever has the turn. */
    void failed() {
        transport.wakeup();
        settleIfFree();
        wakeProgress();
    }

    /** Fails the group: what waits for its data cannot do so. */
    private void broken(Throwable failure) {
        control.fail(Reasons.inside(group, failure));
    }

    /** One turn without waiting, unless another thread has it; returns whether anything moved. */
    boolean step() {
        if (!turn.tryEnter()) {
            return false;
        }
        try {
            return run(null, Until.ONE_TURN, 0);
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
        if (stepped) {
            throw new IllegalStateException(work.description() + " on group \"" + group.name() + "\" rank "
                    + group.rank() + " would block, and a seeded simulation runs all ranks on one thread: submit it and"
                    + " go on in completion()");
        }
    }

    /**
     * The loop; with the turn held. Each turn does what can be done now; nothing in it waits. Between the links and a user's call
     * there are no more frames than there must be: what a turn consists of stands here.
     *
     * @param work what it lasts for; null where that is nothing in particular
     * @return whether anything moved in the last turn
     */
    boolean run(PendingWork work, Until until, long untilNanos) {
        idling.begin();
        boolean moved = false;
        int moves = 0;
        while (goesOn(work, until, moves)) {
            if (control.failure() != null) {
                moved = owner.settle();
            } else {
                try {
                    moved = false;
                    for (Executor executor = operations.begin(); executor != null; executor = operations.begin()) {
                        moved |= executor.advance();
                        if (!executor.isFinished()) {
                            break;
                        }
                        operations.finish();
                        moved = true;
                    }
                    boolean hears = listens || !messages.isIdle();
                    moved |= hears && messages.advance(listens);
                    moved |= (hears || operations.usesLinks()) && transport.poll();
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

    private boolean goesOn(PendingWork work, Until until, int moves) {
        return switch (until) {
            case DONE, TIME -> !work.isDone();
            case IDLE -> !closed && callersWaiting.get() == 0 && !isIdle();
            case ONE_TURN -> moves == 0;
        };
    }

    /** Passes a moment if nothing moved; returns whether it is time to look at deadlines. */
    private boolean isTimeToLook(boolean moved, int moves, Until until) {
        if (moved) {
            idling.begin();
            return moves % MOVES_BETWEEN_CHECKS == 0;
        }
        return until == Until.ONE_TURN || idling.missed();
    }

    /** Looks at clock, interrupt and failure, and sleeps if it is time to; returns false if the caller should go. */
    private boolean keepsOn(PendingWork work, Until until, long untilNanos, boolean moved) {
        long now = nanoTime();
        check(now);
        if (until == Until.ONE_TURN) {
            return false;
        }
        if (until != Until.IDLE && Thread.currentThread().isInterrupted()) {
            if (until == Until.TIME) {
                return false;
            }
            interrupted(work);
        }
        if (until == Until.TIME && now - untilNanos >= 0) {
            return false;
        }
        if (!moved && idling.maySleep() && (work == null || !work.isDone())) {
            sleep(until == Until.TIME ? untilNanos : now + PROGRESS_PARK_NANOS);
        }
        return true;
    }

    /** Looks at deadlines and suspicions. */
    private void check(long nowNanos) {
        try {
            operations.check(nowNanos);
            messages.check(nowNanos);
            // a leaver need not wait for the end of a call that goes on for other reasons
            control.leaves().confirm();
            // between this and a sleep there is a turn; a seeded run has turns for nothing that it waits for
            listens = !stepped;
        } catch (RuntimeException | Error failure) {
            broken(failure);
        }
    }

    private void sleep(long untilNanos) {
        try {
            idling.sleep(untilNanos);
        } catch (RuntimeException | Error failure) {
            broken(failure);
        }
    }

    /** Ends what an interrupted thread waits for; with the turn held. */
    private void interrupted(PendingWork work) {
        if (!work.isDone() && !messages.interrupted(work)) {
            Failure interrupt = Reasons.interrupted(group, work);
            // this call alone says so: for the group, and on the other ranks, this rank aborted
            work.interrupted(interrupt);
            control.fail(interrupt);
        }
    }

    private void waitForTurn(PendingWork work, Until until, long untilNanos) {
        Thread me = Thread.currentThread();
        work.waitedForBy(me);
        callers.add(me);
        callersWaiting.incrementAndGet();
        try {
            transport.wakeup();
            while (!work.isDone() && turn.isHeld()) {
                if (me.isInterrupted()) {
                    if (until == Until.TIME) {
                        return;
                    }
                    interruptedWithoutTurn(work);
                } else {
                    LockSupport.parkNanos(this, PARK_NANOS);
                }
                if (until == Until.TIME && nanoTime() - untilNanos >= 0) {
                    return;
                }
            }
        } finally {
            callersWaiting.decrementAndGet();
            callers.remove(me);
            if (!turn.isHeld()) {
                // the wake-up that this thread may have had is for whoever takes the turn next
                wakeNext();
            }
        }
    }

    private void interruptedWithoutTurn(PendingWork work) {
        // the flag must not end the waiting for the turn, and must be set again for the caller
        boolean interrupted = Thread.interrupted();
        try {
            exclusively(() -> interrupted(work), work.deadlineNanos());
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
        // ranks that have left are told what has ended meanwhile
        control.leaves().confirm();
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
        if (owner.hasToSettle() && turn.tryEnter()) {
            try {
                owner.settle();
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
            if (isIdle() || callersWaiting.get() > 0 || !turn.tryEnter()) {
                LockSupport.parkNanos(this, PROGRESS_PARK_NANOS);
                continue;
            }
            try {
                run(null, Until.IDLE, 0);
            } finally {
                leave();
            }
        }
    }
}
