package ferro.collectives.engine;

import ferro.collectives.engine.exec.OperationQueue;
import ferro.collectives.engine.p2p.PointToPoint;
import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.ProgressLoop;
import ferro.collectives.engine.progress.RunLimit;
import ferro.control.failure.Failure;
import ferro.control.group.GroupControl;
import ferro.control.group.GroupDeparture;
import ferro.control.group.RankStatus;
import ferro.spi.RankContext;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The calls of a group that are under way on this rank, collectives and messages together. */
final class PendingCalls implements GroupDeparture.OpenCalls {
    private static final long LOOK_NANOS = 1_000_000L;
    /** How long, at the exit of a JVM, a call that has ended may take to release the progress lock. */
    private static final long OVER_NANOS = 20_000_000L;

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

    @Override
    public boolean isIdle() {
        return loop.isIdle();
    }

    @Override
    public boolean refuse() {
        return collectives.close();
    }

    @Override
    public long ended() {
        return collectives.ended();
    }

    /** Returns the state of this rank; any thread. */
    RankStatus status() {
        RankStatus status = collectives.status();
        return status == null ? messages.status() : status;
    }

    /** Waits a short time for a call that has ended but has not released the progress lock. */
    @Override
    public String callInFlight() {
        look(OVER_NANOS, () -> isIdle() && !text().isEmpty(), () -> {});
        return text();
    }

    /** Polls while a condition holds, for at most a time, because no signal comes. */
    void look(long nanos, BooleanSupplier holds, Runnable again) {
        long until = context.nanoTime() + nanos;
        while (holds.getAsBoolean() && context.nanoTime() - until < 0) {
            LockSupport.parkNanos(this, LOOK_NANOS);
            again.run();
        }
    }

    private String text() {
        if (isIdle() && !loop.lock().isHeld()) {
            return "";
        }
        RankStatus status = status();
        return status.operation().isEmpty()
                ? "a call"
                : status.operation() + (status.sequence() > 0 ? " seq " + status.sequence() : "");
    }

    /** Waits until all submitted operations have ended, the group has failed, or a time has come. */
    @Override
    public void finish(long untilNanos) {
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
