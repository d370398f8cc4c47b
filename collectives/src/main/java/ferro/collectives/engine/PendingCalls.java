package ferro.collectives.engine;

import ferro.collectives.engine.exec.OperationQueue;
import ferro.collectives.engine.p2p.PointToPoint;
import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.ProgressLoop;
import ferro.collectives.engine.progress.RunLimit;
import ferro.control.failure.Failure;
import ferro.control.group.GroupControl;
import ferro.control.group.RankStatus;
import ferro.spi.RankContext;

/** The calls of a group that are under way on this rank, collectives and messages together. */
final class PendingCalls {
    private final RankContext context;
    private final GroupControl control;
    private final ProgressLoop loop;
    private final OperationQueue collectives;
    private final PointToPoint messages;

    PendingCalls(
            RankContext context,
            GroupControl control,
            ProgressLoop loop,
            OperationQueue collectives,
            PointToPoint messages) {
        this.context = context;
        this.control = control;
        this.loop = loop;
        this.collectives = collectives;
        this.messages = messages;
    }

    /** Returns whether nothing is pending; any thread. */
    boolean isIdle() {
        return loop.isIdle();
    }

    /** Refuses calls from now on; returns false if it did so already. */
    boolean refuse() {
        return collectives.close();
    }

    /** Returns the number of the last collective that has ended, 0 if none; any thread. */
    long ended() {
        return collectives.ended();
    }

    /** Returns the state of this rank; any thread. */
    RankStatus status() {
        RankStatus status = collectives.status();
        return status == null ? messages.status() : status;
    }

    /** Describes for people what is under way; empty if nothing is. Any thread. */
    String text() {
        if (isIdle() && !loop.lock().isHeld()) {
            return "";
        }
        RankStatus status = status();
        return status.operation().isEmpty()
                ? "a call"
                : status.operation() + (status.sequence() > 0 ? " seq " + status.sequence() : "");
    }

    /**
     * Waits until all submitted operations and a {@code newGroup} of another thread have ended, the group has failed, or a
     * time has come.
     */
    void finish(long untilNanos) {
        // a call that bypassed the queue holds the progress lock
        loop.exclusively(() -> {}, untilNanos);
        PendingWork last = collectives.last();
        if (last != null && !last.isDone() && control.failure() == null) {
            loop.await(last, RunLimit.TIME, untilNanos);
        }
        while (!messages.isIdle() && control.failure() == null && context.nanoTime() - untilNanos < 0) {
            loop.exclusively(loop::step, untilNanos);
            Thread.yield();
        }
        if (control.failure() == null) {
            control.agreement().making().await(untilNanos, context::nanoTime);
        }
    }

    /** Ends all with a failure; called with the progress lock held. */
    void settle(Failure failure) {
        try {
            collectives.abandon();
        } finally {
            collectives.failPending(failure);
            messages.settle(failure);
        }
    }
}
