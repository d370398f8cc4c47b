package ferro.collectives;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.collectives.control.Diagnosis;
import ferro.collectives.control.Failure;
import ferro.collectives.control.GroupControl;
import ferro.collectives.control.Inquiry;
import ferro.collectives.control.Names;
import ferro.collectives.control.Standing;
import ferro.spi.GroupSpec;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;

/**
 * Looks after the operation that a group waits for: asks the other ranks about it, says where this rank stands, warns at a
 * quarter of the deadline, gives up at its end. Called by whoever has the turn.
 */
final class OperationWatch {
    /** The first question is soon: ranks that have made different calls are to know it within 100 ms. */
    private static final long FIRST_ASK_NANOS = 50_000_000L;

    private static final long ASK_INTERVAL_MOST_NANOS = 2_000_000_000L;
    private static final int ASKED_AT_ONCE = 16;
    /** A picture of where this rank stands is at most so old. */
    private static final long PICTURE_NANOS = 20_000_000L;

    private final GroupSpec group;
    private final GroupControl control;
    private final OperationQueue operations;
    private final Inquiry inquiry;
    private final Inquiry warning;
    private boolean begun;
    private boolean warned;
    private long nextAskNanos;
    private long askIntervalNanos;
    private long warnNanos;
    private long warnLeadNanos;
    private long nextPictureNanos;
    private volatile Standing picture = Standing.IDLE;

    OperationWatch(GroupSpec group, GroupControl control, OperationQueue operations) {
        this.group = group;
        this.control = control;
        this.operations = operations;
        this.inquiry = control.inquiry();
        this.warning = control.inquiry();
    }

    /** Another operation is the one under way. */
    void begin() {
        begun = false;
    }

    /** Looks at the operation under way, and at the first of those queued behind it that is late, or null. */
    void look(Operation running, Operation lateInQueue, long nowNanos) {
        if (control.failure() != null) {
            return;
        }
        if (!begun) {
            begin(running, nowNanos);
        }
        refuseToWaitForLeavers(running);
        if (nowNanos - nextPictureNanos >= 0) {
            nextPictureNanos = nowNanos + PICTURE_NANOS;
            picture = standing(
                    running,
                    operations.executor().progress(),
                    Names.list(operations.executor().waitingFor()));
        }
        if (nowNanos - nextAskNanos >= 0) {
            askIntervalNanos = Math.min(2 * askIntervalNanos, ASK_INTERVAL_MOST_NANOS);
            nextAskNanos = nowNanos + askIntervalNanos;
            control.ask(running);
        }
        if (!warned && warning.mayJudge(running, null, warnNanos, warnLeadNanos, nowNanos)) {
            warned = true;
            warn(running);
        }
        giveUpIfLate(running, lateInQueue, nowNanos);
    }

    /** Returns where this rank stands, or null if that changes just now; any thread. */
    Standing standing(Operation running) {
        Standing last = picture;
        long sequence = running.sequence();
        if (last.sequence() == sequence) {
            return last;
        }
        Standing now = standing(running, "", "");
        VarHandle.loadLoadFence();
        // it may have become another one meanwhile, of which nothing is known yet
        return sequence == Turn.NONE || running.sequence() != sequence ? null : now;
    }

    private static Standing standing(Operation running, String progress, String waitingFor) {
        return new Standing(
                running.sequence(),
                running.prepared().text(),
                progress,
                waitingFor,
                running.work().begunNanos());
    }

    private void begin(Operation running, long nowNanos) {
        begun = true;
        inquiry.begin();
        warning.begin();
        long left = Math.max(1, running.work().deadlineNanos() - nowNanos);
        warned = !Inquiry.isWarnedOf(
                running.work().deadlineNanos() - running.work().begunNanos());
        warnNanos = nowNanos + left / 4;
        warnLeadNanos = Inquiry.leadNanos(left / 4);
        nextPictureNanos = nowNanos + PICTURE_NANOS;
        // every rank asks every rank: larger worlds ask more rarely
        long crowd = Math.max(1, group.worldSize() / ASKED_AT_ONCE);
        askIntervalNanos = Math.max(1, Math.min(FIRST_ASK_NANOS * crowd, left / 4));
        nextAskNanos = nowNanos + askIntervalNanos;
    }

    /** A rank that left without having made a call will never make it. */
    private void refuseToWaitForLeavers(Operation operation) {
        int gone = control.leaves().before(operation.sequence());
        if (gone >= 0) {
            failForLeaver(control, gone, operation.sequence(), operation.prepared());
        }
    }

    /** Fails the group, since a rank has left before a call. */
    static void failForLeaver(GroupControl control, int gone, long sequence, Prepared call) {
        control.leaves().fail(gone, "this call is seq " + sequence + " (" + call.text() + ")");
    }

    private void warn(Operation running) {
        Diagnosis.Verdict verdict = verdict(warning, running);
        String text = "rank " + group.rank() + " of \"" + group.name() + "\" waits for "
                + Names.ranks(verdict.culprits()) + place(running, running) + ": " + verdict.text();
        control.event(GroupEvent.Kind.LATE, verdict.culprits().stream().boxed().toList(), text);
    }

    private Diagnosis.Verdict verdict(Inquiry asked, Operation running) {
        return asked.collective(
                running.sequence(),
                running.work().begunNanos(),
                operations.executor().waitingFor());
    }

    private void giveUpIfLate(Operation running, Operation lateInQueue, long nowNanos) {
        boolean isQueued = nowNanos - running.work().deadlineNanos() < 0 && lateInQueue != null;
        PendingWork late = isQueued ? lateInQueue.work() : running.work();
        long lead = Inquiry.leadNanos(late.deadlineNanos() - late.begunNanos());
        if (inquiry.mayJudge(running, null, late.deadlineNanos(), lead, nowNanos)) {
            Diagnosis.Verdict verdict = verdict(inquiry, running);
            String names = Names.list(verdict.culprits());
            String text = "rank " + group.rank() + " of \"" + group.name() + "\" gave up on "
                    + Names.ranks(verdict.culprits()) + place(running, isQueued ? lateInQueue : running) + ": "
                    + verdict.text();
            control.fail(new Failure(Code.TIMED_OUT, group.rank(), running.sequence(), names, text, null));
        }
    }

    private String place(Operation running, Operation late) {
        long millis = TimeUnit.NANOSECONDS.toMillis(late.work().elapsed().toNanos());
        return " after " + millis + " ms at " + running.prepared().text() + " seq " + running.sequence() + ", "
                + operations.executor().progress();
    }
}
