package ferro.control.group;

import ferro.control.failure.Diagnosis;
import ferro.spi.CallHeader;
import java.util.BitSet;

/**
 * Asks all ranks for their state before a deadline, so that it can be judged by their answers when it comes: at once if
 * all have answered, a little later if not. The ranks are asked twice, early and shortly before the deadline. A rank
 * that has not answered since the early question stands still; a rank that has only not answered the last question may
 * just be slow. A rank that stood still itself, or whose process was paused while it waited for an answer, asks again first, a few
 * times at most: it then reads everything that the others sent before their answers. Called by one thread at a time.
 */
public final class TimeoutProbe {
    /** The longest time between the last question and the deadline; the judgement comes at most as long after it. */
    private static final long LEAD_MOST_NANOS = 50_000_000L;
    /** The early question is asked this many leads before the deadline. */
    private static final int EARLY = 5;
    /** A lead is at most the timeout divided by this number. */
    private static final int LEAD_PART = 8;
    /** A caller that looks this much later than planned has stood still. */
    static final long STOOD_STILL_NANOS = 250_000_000L;
    /** The most times that an expired deadline waits for new answers: on a busy enough machine, every look is late. */
    private static final int AGAIN_MOST = 3;

    /** Longest time between two checks for answers after a deadline. */
    private static final long POLL_NANOS = 5_000_000L;

    /** Shorter deadlines cause no warning: a quarter of them is nothing unusual. */
    private static final long WARNED_LEAST_NANOS = 1_000_000_000L;

    private static final long MAX_MOVING_NANOS = 1_000_000_000L;
    private static final int MOVING_PART = 16;

    private final StatusInquiry inquiry;
    private final Question early = new Question();
    private final Question last = new Question();
    private boolean looked;
    private long expectedNanos;
    private int again;

    /** One round of questions. */
    private static final class Question {
        private boolean isAsked;
        private long askedNanos;
        private long ask;
    }

    TimeoutProbe(StatusInquiry inquiry) {
        this.inquiry = inquiry;
    }

    /** Forgets the questions: another operation is watched from now on. */
    public void begin() {
        forget();
        looked = false;
        again = 0;
    }

    private void forget() {
        early.isAsked = false;
        last.isAsked = false;
    }

    /** Returns how many nanoseconds before the end of a timeout the ranks are asked for the last time. */
    public static long leadNanos(long timeoutNanos) {
        return Math.max(1, Math.min(LEAD_MOST_NANOS, timeoutNanos / LEAD_PART));
    }

    /** Returns whether listeners are warned when a quarter of a timeout has passed; false if it is short. */
    public static boolean isWarnedOf(long timeoutNanos) {
        return timeoutNanos >= WARNED_LEAST_NANOS;
    }

    /** Returns how long before a deadline the ranks are asked for the first time. */
    public static long firstNanos(long leadNanos) {
        return EARLY * leadNanos;
    }

    /** Returns the nanoseconds, at least 1, until {@link #mayJudge} may have something to do. */
    public static long untilCheck(long deadlineNanos, long leadNanos, long nowNanos) {
        long left = deadlineNanos - nowNanos;
        if (left > firstNanos(leadNanos)) {
            return left - firstNanos(leadNanos);
        }
        if (left > leadNanos) {
            return left - leadNanos;
        }
        return left > 0 ? left : Math.min(POLL_NANOS, leadNanos);
    }

    /**
     * Checks the deadline, and asks the ranks when it is time.
     *
     * @param call          operation to ask about, or null
     * @param among         ranks whose answers are waited for, or null for all
     * @param deadlineNanos when it ends
     * @param leadNanos     of {@link #leadNanos}
     * @param nowNanos      now
     * @return whether the deadline is over and the answers allow a judgement
     */
    public boolean mayJudge(CallHeader call, BitSet among, long deadlineNanos, long leadNanos, long nowNanos) {
        if (looked && nowNanos - expectedNanos > STOOD_STILL_NANOS && again < AGAIN_MOST) {
            forget();
            again += nowNanos - deadlineNanos >= 0 ? 1 : 0;
        }
        looked = true;
        expectedNanos = nowNanos;
        if (nowNanos - (deadlineNanos - firstNanos(leadNanos)) < 0) {
            return false;
        }
        ask(early, call, deadlineNanos - firstNanos(leadNanos), nowNanos);
        if (nowNanos - (deadlineNanos - leadNanos) < 0) {
            return false;
        }
        ask(last, call, deadlineNanos - leadNanos, nowNanos);
        boolean isOver = nowNanos - deadlineNanos >= 0
                && (nowNanos - last.askedNanos >= 2 * leadNanos || !inquiry.isAnySilent(last.ask, among));
        if (isOver && again < AGAIN_MOST && maySilenceBeOurs(among)) {
            again++;
            forget();
            return false;
        }
        return isOver;
    }

    /** Returns whether a rank is silent since the early question, and this process was paused since then. */
    private boolean maySilenceBeOurs(BitSet among) {
        return inquiry.isAnySilent(early.ask, among) && inquiry.pausedSince(early.askedNanos) > 0;
    }

    private void ask(Question question, CallHeader call, long dueNanos, long nowNanos) {
        if (!question.isAsked || question.askedNanos - dueNanos < 0) {
            question.isAsked = true;
            question.askedNanos = nowNanos;
            question.ask = inquiry.askForLines(call);
        }
    }

    /**
     * Judges which ranks a collective waits for.
     *
     * @param sequence   number of the collective
     * @param begunNanos when it began
     * @param waitedFor  ranks that this one waits for; empty if they are not known
     * @param movedNanos a time before now within which data of this rank moved, or 0 if none did
     * @return ranks to blame, and the state of each rank
     */
    public Diagnosis.Blame collective(long sequence, long begunNanos, BitSet waitedFor, long movedNanos) {
        return inquiry.diagnosis(early.ask, last.ask, sequence).ofCollective(waitedFor, own(begunNanos, movedNanos));
    }

    private Diagnosis.OwnState own(long begunNanos, long movedNanos) {
        return new Diagnosis.OwnState(inquiry.pausedSince(begunNanos), movedNanos);
    }

    /**
     * Returns for how long before a deadline data that moves shows that a rank is only slow.
     *
     * @param timeoutNanos from begin to deadline
     * @return nanoseconds: a second, or a part of a short timeout
     */
    public static long movingNanos(long timeoutNanos) {
        return Math.min(MAX_MOVING_NANOS, timeoutNanos / MOVING_PART);
    }

    /**
     * Judges which ranks an operation without a number waits for.
     *
     * @param begunNanos when it began
     * @param waitedFor  ranks that this one waits for
     * @param ownCall    what this rank is in, for people; empty if its message is in flight
     * @param movedNanos a time before now within which data of this operation moved, or 0 if none did
     * @return ranks to blame, and the state of each rank
     */
    public Diagnosis.Blame waiting(long begunNanos, BitSet waitedFor, String ownCall, long movedNanos) {
        return inquiry.diagnosis(early.ask, last.ask, 0).ofWaiting(waitedFor, own(begunNanos, movedNanos), ownCall);
    }

    /**
     * Judges an operation that waits for any of several ranks.
     *
     * @param waitedFor ranks of which one is enough
     * @param ownCall   what this rank is in, for people
     * @return ranks to blame, and the state of each rank
     */
    public Diagnosis.Blame waitingForAny(BitSet waitedFor, String ownCall) {
        return inquiry.diagnosis(early.ask, last.ask, 0).ofWaitingForAny(waitedFor, ownCall);
    }

    /** Judges a new group by the members that have not called. */
    Diagnosis.Blame missing(BitSet missing) {
        return inquiry.diagnosis(early.ask, last.ask, 0).ofMissing(missing);
    }

    /**
     * Sets when the next look is, if it is not soon.
     *
     * @param nanos on the context's clock
     */
    public void nextLookAt(long nanos) {
        expectedNanos = nanos;
    }
}
