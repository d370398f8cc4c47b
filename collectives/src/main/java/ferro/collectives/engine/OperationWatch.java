package ferro.collectives.engine;

import ferro.control.failure.Diagnosis;
import ferro.control.group.CallWatch;
import ferro.control.group.GroupControl;
import ferro.control.group.RankStatus;
import ferro.control.group.TimeoutProbe;
import ferro.control.wire.RankLists;
import ferro.spi.CallHeader;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The watch on the current operation of a group ({@link CallWatch}), which also stores the status of this rank. The
 * callers of this object hold the progress lock.
 */
final class OperationWatch implements CallWatch.WatchedCalls<Operation> {
    /** Maximum age of the stored status of this rank. */
    private static final long SNAPSHOT_NANOS = 20_000_000L;

    private final GroupControl control;
    private final Supplier<Executor> executor;
    private final CallWatch<Operation> watch;
    private boolean begun;
    /** When the status was stored; before that, when the operation began to wait. */
    private long storedNanos;
    /** Whether the status was stored after the last progress. */
    private boolean isCurrent;
    /** Bytes that the operation had moved when the status was stored. */
    private long movedBytes;
    /** When it was last observed that more bytes had moved than before; 0 if they never had. */
    private long movedNanos;

    private volatile RankStatus snapshot = RankStatus.IDLE;

    /** Makes a watch; the supplier returns the executor of the current operation. */
    OperationWatch(GroupControl control, Supplier<Executor> executor) {
        this.control = control;
        this.executor = executor;
        this.watch = new CallWatch<>(control, this);
    }

    /** Records that another operation is now the current one. */
    void begin() {
        begun = false;
        isCurrent = false;
        movedBytes = 0;
        movedNanos = 0;
        watch.begin();
    }

    /**
     * Checks the current operation and the first late operation in the queue behind it. The late operation may be null.
     */
    void poll(Operation running, Operation lateInQueue, long nowNanos) {
        if (control.failure() != null) {
            return;
        }
        if (!begun || nowNanos - storedNanos >= SNAPSHOT_NANOS) {
            if (begun) {
                snapshot = status(
                        running,
                        executor.get().progress(),
                        RankLists.numbers(executor.get().waitingFor()));
                noteMoved(nowNanos);
            }
            isCurrent = begun;
            begun = true;
            storedNanos = nowNanos;
        }
        watch.poll(running, lateInQueue, nowNanos);
    }

    private void noteMoved(long nowNanos) {
        long moved = executor.get().position(0).bytesMoved();
        if (moved != movedBytes) {
            movedBytes = moved;
            movedNanos = nowNanos;
        }
    }

    /**
     * Returns the time until {@link #poll} may have something to do. The status is stored once more after the last
     * progress, because the other ranks judge this rank by it.
     */
    long untilNext(Operation running, Operation queued, long nowNanos, boolean isQuiet) {
        isCurrent &= isQuiet || storedNanos == nowNanos;
        long next = watch.untilNext(running, queued, nowNanos);
        return isCurrent ? next : Math.min(next, storedNanos + SNAPSHOT_NANOS - nowNanos);
    }

    /**
     * Returns the status of this rank, or null if the current operation is changing. Any thread may call this method.
     */
    RankStatus status(Operation running) {
        RankStatus last = snapshot;
        long sequence = running.sequence();
        if (last.sequence() == sequence) {
            return last;
        }
        RankStatus now = status(running, "", Set.of());
        VarHandle.loadLoadFence();
        // the object may have become another operation, whose status is unknown
        return sequence == ProgressLock.NONE || running.sequence() != sequence ? null : now;
    }

    private static RankStatus status(Operation running, String progress, Set<Integer> waitingFor) {
        return new RankStatus(
                running.sequence(),
                running.prepared().text(),
                progress,
                waitingFor,
                running.work().begunNanos());
    }

    @Override
    public CallHeader header(Operation call) {
        return call;
    }

    @Override
    public long begunNanos(Operation call) {
        return call.work().begunNanos();
    }

    @Override
    public long deadlineNanos(Operation call) {
        return call.work().deadlineNanos();
    }

    @Override
    public BitSet waitingFor(Operation call) {
        return executor.get().waitingFor();
    }

    @Override
    public Diagnosis.Blame judge(TimeoutProbe asked, Operation running) {
        long begunNanos = running.work().begunNanos();
        long moving = TimeoutProbe.movingNanos(running.work().deadlineNanos() - begunNanos);
        boolean isMoving = movedNanos != 0 && storedNanos - movedNanos < moving;
        return asked.collective(running.sequence(), begunNanos, executor.get().waitingFor(), isMoving ? moving : 0);
    }

    @Override
    public String describe(Operation running, Operation late) {
        return running.prepared().text() + " seq " + running.sequence() + ", "
                + executor.get().progress();
    }

    @Override
    public String alone() {
        return "because its own work is slow (it waits for no rank)";
    }
}
