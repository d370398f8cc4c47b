package ferro.control.group;

import ferro.control.failure.Diagnosis;
import ferro.spi.CallHeader;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

/**
 * The watch on the call that a group waits for. The watch asks the other ranks about the call, and warns after a
 * quarter of the timeout. The watch fails the group at the deadline, or if a rank has left without making the call.
 * Used by one thread at a time.
 *
 * @param <C> type of the calls of one back end
 */
public final class CallWatch<C> {
    private final GroupControl control;
    private final CallAccess<C> calls;
    private final TimeoutProbe probe;
    private final TimeoutProbe warning;
    private final InquirySchedule asking;
    private boolean begun;
    private boolean warned;
    private long waitsSinceNanos;
    private long warnNanos;

    /** Access to the calls of a back end. */
    public interface CallAccess<C> {
        /** Returns the header of a call about which other ranks are asked; null for a message, which has no number. */
        CallHeader header(C call);

        /** Returns the time at which a call began. */
        long begunNanos(C call);

        /** Returns the deadline of a call. */
        long deadlineNanos(C call);

        /** Returns the ranks that a call waits for; empty if these ranks are not known. */
        BitSet waitingFor(C call);

        /** Judges which ranks a call waits for, from the answers to a probe. */
        Diagnosis.Blame judge(TimeoutProbe asked, C call);

        /** Describes a call whose deadline has passed: the running call, or a call that is queued behind it. */
        String describe(C running, C late);

        /** Returns why a rank that waits for no other rank is late; empty if the awaited ranks are unknown. */
        String alone();
    }

    /** Creates the watch of a group. */
    public CallWatch(GroupControl control, CallAccess<C> calls) {
        this.control = control;
        this.calls = calls;
        this.probe = control.timeoutProbe();
        this.warning = control.timeoutProbe();
        this.asking =
                new InquirySchedule(control.group().rank(), control.group().worldSize());
    }

    /** Starts the watch on another call, for which the group waits from now on. */
    public void begin() {
        begun = false;
    }

    /** Checks the running call. {@code queued} is a later call with an earlier deadline, or null. */
    public void poll(C running, C queued, long nowNanos) {
        CallHeader header = calls.header(running);
        if (!begun) {
            begin(running, nowNanos);
        }
        if (header != null) {
            control.exits().refuse(header.sequence(), header.call());
        }
        if (asking.isDue(nowNanos)) {
            control.ask(header, asking.nextAsked(calls.waitingFor(running)));
        }
        if (!warned && warning.mayJudge(header, null, waitsSinceNanos, warnNanos, nowNanos)) {
            warned = true;
            warn(running, nowNanos);
        }
        C late = queued == null || nowNanos - calls.deadlineNanos(running) >= 0 ? running : queued;
        long begunNanos = calls.begunNanos(late);
        long deadlineNanos = calls.deadlineNanos(late);
        if (probe.mayJudge(header, null, begunNanos, deadlineNanos, nowNanos)
                && control.rules().mayGiveUp(deadlineNanos - begunNanos)) {
            giveUp(running, late, nowNanos);
        }
    }

    private void begin(C running, long nowNanos) {
        begun = true;
        probe.begin();
        warning.begin();
        long deadline = calls.deadlineNanos(running);
        warned = !TimeoutProbe.isWarnedOf(deadline - calls.begunNanos(running));
        waitsSinceNanos = nowNanos;
        warnNanos = TimeoutProbe.warnNanos(nowNanos, deadline);
        asking.begin(warnNanos - nowNanos, nowNanos);
    }

    /** Returns the nanoseconds, at least 1, until the next {@link #poll}; {@code queued} may be null. */
    public long untilNext(C running, C queued, long nowNanos) {
        C late = queued == null ? running : queued;
        long next = Math.min(
                asking.remainingNanos(nowNanos),
                TimeoutProbe.untilCheck(calls.begunNanos(late), calls.deadlineNanos(late), nowNanos));
        if (!warned) {
            next = Math.min(next, TimeoutProbe.untilCheck(waitsSinceNanos, warnNanos, nowNanos));
        }
        next = Math.max(1, next);
        probe.nextLookAt(nowNanos + next);
        warning.nextLookAt(nowNanos + next);
        return next;
    }

    private void warn(C running, long nowNanos) {
        Diagnosis.Blame verdict = calls.judge(warning, running);
        String says = says(verdict, "waits for ", "waits", "is late");
        control.late(
                verdict, says + after(running, nowNanos) + calls.describe(running, running) + ": " + verdict.text());
    }

    private void giveUp(C running, C late, long nowNanos) {
        Diagnosis.Blame verdict = calls.judge(probe, running);
        CallHeader header = calls.header(running);
        if (header != null) {
            // the answer to the last question may have been a goodbye, which makes the leave the cause
            control.exits().refuseNow(header.sequence(), header.call());
        }
        if (control.failure() != null) {
            return;
        }
        String says = says(verdict, "gave up on ", "gave up", "gave up");
        control.fail(verdict.timedOut(
                control.group().rank(),
                header == null ? -1 : header.sequence(),
                says + after(late, nowNanos) + calls.describe(running, late) + ": " + verdict.text()));
    }

    private String says(Diagnosis.Blame verdict, String forSome, String forNone, String alone) {
        BitSet ranks = verdict.culprits();
        String nobody = calls.alone().isEmpty() ? forNone : alone + " " + calls.alone();
        String does = ranks.isEmpty() ? nobody : forSome + control.machines().named(ranks);
        return control.self() + " of \"" + control.group().name() + "\" " + (verdict.isNoRankAlone() ? forNone : does);
    }

    private String after(C call, long nowNanos) {
        return " after " + TimeUnit.NANOSECONDS.toMillis(nowNanos - calls.begunNanos(call)) + " ms at ";
    }
}
