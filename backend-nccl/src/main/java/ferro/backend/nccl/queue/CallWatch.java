package ferro.backend.nccl.queue;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.group.AskSchedule;
import ferro.control.group.GroupControl;
import ferro.control.group.TimeoutProbe;
import ferro.control.wire.RankLists;
import ferro.spi.CallHeader;
import java.util.BitSet;

/**
 * The watch on the operation that the ranks wait for: asks the other ranks about it, warns at a quarter of its time, and
 * ends the group at its deadline, or when it waits for a rank that has left. Used by the watchdog only.
 */
final class CallWatch {
    private static final int PART_BEFORE_WARNING = 4;
    private static final long LOOK_NANOS = 5_000_000L;

    private final WorkQueue queue;
    private final GroupControl control;
    private final TimeoutProbe probe;
    private final TimeoutProbe warning;
    private final AskSchedule asking;
    private NcclWork watched;
    private boolean warned;

    CallWatch(WorkQueue queue) {
        this.queue = queue;
        this.control = queue.control().group();
        this.probe = control.timeoutProbe();
        this.warning = control.timeoutProbe();
        this.asking = new AskSchedule(queue.identity().worldSize());
    }

    /** Checks the oldest operation, and the deadlines of those behind it. Returns the nanoseconds until the next check. */
    long check(NcclWork oldest) {
        long now = oldest.deadline().nowNanos();
        if (oldest != watched) {
            begin(oldest, now);
        }
        refuseToWaitForLeavers(oldest);
        CallHeader call = oldest.title().isMessage() ? null : queue.control().headerOf(oldest);
        boolean isConnected = queue.control().position().isConnected();
        if (call != null && isConnected && asking.isDue(now)) {
            control.ask(call);
        }
        warnIfLate(oldest, call, now);
        NcclWork late = first(oldest);
        long lead = TimeoutProbe.leadNanos(late.deadline().lengthNanos());
        long deadline = late.deadline().endNanos();
        if (!isConnected ? now - deadline >= 0 : probe.mayJudge(call, null, deadline, lead, now)) {
            giveUp(oldest, late);
        }
        return next(oldest, late, now);
    }

    private void begin(NcclWork oldest, long now) {
        watched = oldest;
        probe.begin();
        warning.begin();
        long length = oldest.deadline().lengthNanos();
        warned = !TimeoutProbe.isWarnedOf(length);
        asking.begin(length / PART_BEFORE_WARNING, now);
    }

    /** Returns the operation whose deadline is the first. */
    private NcclWork first(NcclWork oldest) {
        NcclWork first = oldest;
        for (NcclWork work : queue.pending()) {
            if (!work.isDone() && work.deadline().endNanos() - first.deadline().endNanos() < 0) {
                first = work;
            }
        }
        return first;
    }

    private long next(NcclWork oldest, NcclWork late, long now) {
        long next = Math.min(AskSchedule.MAX_INTERVAL_NANOS, asking.remainingNanos(now));
        long lead = TimeoutProbe.leadNanos(late.deadline().lengthNanos());
        next = Math.min(next, untilQuestions(late.deadline().endNanos(), lead, now));
        if (!warned) {
            long quarter = oldest.deadline().lengthNanos() / PART_BEFORE_WARNING;
            long at = oldest.deadline().startNanos() + quarter;
            next = Math.min(next, untilQuestions(at, TimeoutProbe.leadNanos(quarter), now));
        }
        return Math.max(1, next);
    }

    /** Returns the time until ranks are asked before a deadline; close to it answers are looked for often. */
    private static long untilQuestions(long deadlineNanos, long leadNanos, long now) {
        long first = deadlineNanos - TimeoutProbe.firstNanos(leadNanos) - now;
        return first > 0 ? first : Math.min(LOOK_NANOS, leadNanos);
    }

    /** Ends the group if a rank has left without its part of this operation, because it will never make it. */
    private void refuseToWaitForLeavers(NcclWork work) {
        if (!control.exits().any()) {
            return;
        }
        if (!work.title().isMessage()) {
            int gone = control.exits().before(work.sequence());
            if (gone >= 0) {
                control.exits()
                        .fail(
                                gone,
                                "this call is seq " + work.sequence() + " ("
                                        + work.title().print() + ")");
            }
            return;
        }
        int peer = work.title().peer();
        if (!control.exits().has(peer)) {
            return;
        }
        boolean receives = work.title().operation() == NcclOperation.RECV;
        long made = receives ? control.exits().sentBy(peer) : control.exits().takenBy(peer);
        if (work.number() > made) {
            control.exits()
                    .fail(
                            peer,
                            "it has " + (receives ? "sent " : "taken ") + made + " messages "
                                    + (receives ? "to" : "from") + " this rank, and this call is for message "
                                    + work.number() + " (" + work.title().print() + ")");
        }
    }

    private void warnIfLate(NcclWork oldest, CallHeader call, long now) {
        long quarter = oldest.deadline().lengthNanos() / PART_BEFORE_WARNING;
        long at = oldest.deadline().startNanos() + quarter;
        if (warned || !warning.mayJudge(call, null, at, TimeoutProbe.leadNanos(quarter), now)) {
            return;
        }
        warned = true;
        Diagnosis.Blame verdict = verdict(warning, oldest);
        String text = "rank " + queue.identity().rank() + " of \""
                + queue.identity().group() + "\" " + who("waits for ", "waits", verdict.culprits()) + " after "
                + oldest.elapsed().toMillis() + " ms of " + oldest.deadline().lengthMillis() + " ms at "
                + oldest.print() + ": " + verdict.text();
        control.event(GroupEvent.Kind.LATE, verdict.culprits().stream().boxed().toList(), text);
    }

    private Diagnosis.Blame verdict(TimeoutProbe asked, NcclWork work) {
        if (!queue.control().position().isConnected()) {
            return new Diagnosis.Blame(
                    new BitSet(), "another rank is late, gone, or made another call, which is not known here", false);
        }
        long begun = work.deadline().startNanos();
        if (work.title().isMessage()) {
            BitSet peer = new BitSet();
            peer.set(work.title().peer());
            return asked.waiting(begun, peer, work.title().print());
        }
        // NCCL does not say whom it waits for: a rank that has called is not to blame
        Diagnosis.Blame verdict = asked.collective(work.sequence(), begun, new BitSet());
        return verdict.culprits().isEmpty()
                ? new Diagnosis.Blame(new BitSet(), "all ranks have called it; " + verdict.text(), false)
                : verdict;
    }

    private void giveUp(NcclWork oldest, NcclWork late) {
        Diagnosis.Blame verdict = verdict(probe, oldest);
        String behind = oldest == late ? "" : ", which is queued behind " + oldest.print();
        String text = "rank " + queue.identity().rank() + " of \""
                + queue.identity().group() + "\" "
                + who("gave up on ", "gave up", verdict.culprits()) + " after "
                + late.deadline().lengthMillis() + " ms at " + late.print() + behind + ": " + verdict.text()
                + "; the communicator is aborted, join again";
        queue.fail(new Failure(
                Code.TIMED_OUT,
                queue.identity().rank(),
                oldest.sequence(),
                RankLists.numbers(verdict.culprits()),
                text,
                null));
    }

    private static String who(String forSome, String forNone, BitSet ranks) {
        return ranks.isEmpty() ? forNone : forSome + RankLists.ranks(ranks);
    }
}
