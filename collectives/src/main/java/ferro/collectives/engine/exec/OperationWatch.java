package ferro.collectives.engine.exec;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.collectives.engine.operands.Prepared;
import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.ProgressLock;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.group.AskSchedule;
import ferro.control.group.GroupControl;
import ferro.control.group.RankStatus;
import ferro.control.group.TimeoutProbe;
import ferro.control.wire.RankLists;
import ferro.spi.GroupSpec;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A watch on the current operation of a group. The watch asks the other ranks about the operation, stores the status of
 * this rank, warns at a quarter of the timeout, and fails the group at the deadline. The callers of this object hold
 * the progress lock.
 */
final class OperationWatch {
    /** Maximum age of the stored status of this rank. */
    private static final long SNAPSHOT_NANOS = 20_000_000L;

    private final GroupSpec group;
    private final GroupControl control;
    private final Supplier<Executor> executor;
    private final TimeoutProbe probe;
    private final TimeoutProbe warning;
    private final AskSchedule asking;
    private boolean begun;
    private boolean warned;
    private long warnNanos;
    private long warnLeadNanos;
    private long nextSnapshotNanos;
    private volatile RankStatus snapshot = RankStatus.IDLE;

    /** Makes a watch; the supplier returns the executor of the current operation. */
    OperationWatch(GroupSpec group, GroupControl control, Supplier<Executor> executor) {
        this.group = group;
        this.control = control;
        this.executor = executor;
        this.probe = control.timeoutProbe();
        this.warning = control.timeoutProbe();
        this.asking = new AskSchedule(group.worldSize());
    }

    /** Records that another operation is now the current one. */
    void begin() {
        begun = false;
    }

    /**
     * Checks the current operation and the first late operation in the queue behind it. The late operation may be null.
     */
    void poll(Operation running, Operation lateInQueue, long nowNanos) {
        if (control.failure() != null) {
            return;
        }
        if (!begun) {
            begin(running, nowNanos);
        }
        refuseToWaitForLeavers(running);
        if (nowNanos - nextSnapshotNanos >= 0) {
            nextSnapshotNanos = nowNanos + SNAPSHOT_NANOS;
            snapshot = status(
                    running,
                    executor.get().progress(),
                    RankLists.list(executor.get().waitingFor()));
        }
        if (asking.isDue(nowNanos)) {
            control.ask(running);
        }
        if (!warned && warning.mayJudge(running, null, warnNanos, warnLeadNanos, nowNanos)) {
            warned = true;
            warn(running);
        }
        giveUpIfLate(running, lateInQueue, nowNanos);
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
        RankStatus now = status(running, "", "");
        VarHandle.loadLoadFence();
        // the object may have become another operation, whose status is unknown
        return sequence == ProgressLock.NONE || running.sequence() != sequence ? null : now;
    }

    private static RankStatus status(Operation running, String progress, String waitingFor) {
        return new RankStatus(
                running.sequence(),
                running.prepared().text(),
                progress,
                waitingFor,
                running.work().begunNanos());
    }

    private void begin(Operation running, long nowNanos) {
        begun = true;
        probe.begin();
        warning.begin();
        long left = Math.max(1, running.work().deadlineNanos() - nowNanos);
        warned = !TimeoutProbe.isWarnedOf(
                running.work().deadlineNanos() - running.work().begunNanos());
        warnNanos = nowNanos + left / 4;
        warnLeadNanos = TimeoutProbe.leadNanos(left / 4);
        nextSnapshotNanos = nowNanos + SNAPSHOT_NANOS;
        asking.begin(left / 4, nowNanos);
    }

    /** Fails the group if a rank has left without making this call, because that rank will never make it. */
    private void refuseToWaitForLeavers(Operation operation) {
        int gone = control.exits().before(operation.sequence());
        if (gone >= 0) {
            failForLeaver(control, gone, operation.sequence(), operation.prepared());
        }
    }

    /** Fails the group because a rank has left before a call. */
    static void failForLeaver(GroupControl control, int gone, long sequence, Prepared call) {
        control.exits().fail(gone, "this call is seq " + sequence + " (" + call.text() + ")");
    }

    private void warn(Operation running) {
        Diagnosis.Blame verdict = verdict(warning, running);
        String text = "rank " + group.rank() + " of \"" + group.name() + "\" "
                + (verdict.isCycle()
                        ? "waits"
                        : waiting(
                                verdict.culprits(),
                                "waits for ",
                                "is late because its own work is slow (it waits for no rank)"))
                + position(running, running) + ": " + verdict.text();
        control.event(GroupEvent.Kind.LATE, verdict.culprits().stream().boxed().toList(), text);
    }

    private Diagnosis.Blame verdict(TimeoutProbe asked, Operation running) {
        return asked.collective(
                running.sequence(), running.work().begunNanos(), executor.get().waitingFor());
    }

    private void giveUpIfLate(Operation running, Operation lateInQueue, long nowNanos) {
        boolean isQueued = nowNanos - running.work().deadlineNanos() < 0 && lateInQueue != null;
        PendingWork late = isQueued ? lateInQueue.work() : running.work();
        long lead = TimeoutProbe.leadNanos(late.deadlineNanos() - late.begunNanos());
        if (probe.mayJudge(running, null, late.deadlineNanos(), lead, nowNanos)) {
            Diagnosis.Blame verdict = verdict(probe, running);
            Set<Integer> culprits = RankLists.numbers(verdict.culprits());
            String text = "rank " + group.rank() + " of \"" + group.name() + "\" "
                    + (verdict.isCycle()
                            ? "gave up"
                            : waiting(
                                    verdict.culprits(),
                                    "gave up on ",
                                    "gave up because its own work is slow (it waits for no rank)"))
                    + position(running, isQueued ? lateInQueue : running) + ": " + verdict.text();
            control.fail(new Failure(Code.TIMED_OUT, group.rank(), running.sequence(), culprits, text, null));
        }
    }

    /**
     * Returns the text about the ranks that this rank waits for. Returns {@code forNone} if only the work of this rank
     * is unfinished.
     */
    static String waiting(BitSet ranks, String forSome, String forNone) {
        return ranks.isEmpty() ? forNone : forSome + RankLists.ranks(ranks);
    }

    private String position(Operation running, Operation late) {
        long millis = TimeUnit.NANOSECONDS.toMillis(late.work().elapsed().toNanos());
        return " after " + millis + " ms at " + running.prepared().text() + " seq " + running.sequence() + ", "
                + executor.get().progress();
    }
}
