package ferro.control.group;

import ferro.control.failure.Diagnosis;
import ferro.spi.CallHeader;
import java.util.BitSet;

/**
 * The questions to all ranks before the deadline of a call, and the judgement at the deadline. The probe judges at the
 * deadline if all ranks have answered, otherwise a little later.
 *
 * <p>The probe asks the ranks twice: early, and shortly before the deadline. A rank that has answered neither question
 * is stuck or stopped. A rank that has answered only the early question may be slow. If the caller or the process of
 * this rank was paused during the wait for an answer, this rank asks again before the judgement. When the new answers
 * arrive, this rank has also read everything that the other ranks sent before. This rank asks again a few times at
 * most. Called by one thread at a time.
 */
public final class TimeoutProbe {
    /**
     * The longest lead, which is the time between the last question and the deadline. The judgement is made at most one
     * lead after the deadline.
     */
    private static final long LEAD_MOST_NANOS = 50_000_000L;
    /** The number of leads between the early question and the deadline. */
    private static final int EARLY = 5;
    /** The lead is at most the timeout divided by this number. */
    private static final int LEAD_PART = 8;
    /** If a check is later than this delay, the caller was paused. */
    static final long STOOD_STILL_NANOS = 250_000_000L;
    /** The maximum number of waits for new answers after a deadline. On a very busy machine every check is late. */
    private static final int AGAIN_MOST = 3;

    /** The longest time between two checks for answers after a deadline. */
    private static final long POLL_NANOS = 5_000_000L;

    /** The shortest timeout that causes a warning. A quarter of a shorter timeout is a normal time for a call. */
    private static final long WARNED_LEAST_NANOS = 1_000_000_000L;

    private static final int PART_BEFORE_WARNING = 4;

    private static final long MAX_MOVING_NANOS = 1_000_000_000L;
    private static final int MOVING_PART = 16;

    private final StatusInquiry inquiry;
    private final QuestionRound early = new QuestionRound();
    private final QuestionRound last = new QuestionRound();
    private boolean looked;
    private long expectedNanos;
    private int again;

    /** One round of questions. */
    private static final class QuestionRound {
        private boolean isAsked;
        private long askedNanos;
        private long ask;
    }

    TimeoutProbe(StatusInquiry inquiry) {
        this.inquiry = inquiry;
    }

    /** Starts the probe of another operation and drops the questions about the previous operation. */
    public void begin() {
        forget();
        looked = false;
        again = 0;
    }

    private void forget() {
        early.isAsked = false;
        last.isAsked = false;
    }

    /** Returns how many nanoseconds before a deadline the ranks are asked for the last time. */
    private static long leadNanos(long begunNanos, long deadlineNanos) {
        return Math.max(1, Math.min(LEAD_MOST_NANOS, (deadlineNanos - begunNanos) / LEAD_PART));
    }

    /** Returns whether listeners are warned after a quarter of a timeout. Short timeouts cause no warning. */
    public static boolean isWarnedOf(long timeoutNanos) {
        return timeoutNanos >= WARNED_LEAST_NANOS;
    }

    /** Returns the time of the warning of an operation: when a quarter of the time from begin to deadline is over. */
    public static long warnNanos(long begunNanos, long deadlineNanos) {
        return begunNanos + Math.max(0, deadlineNanos - begunNanos) / PART_BEFORE_WARNING;
    }

    /** Returns the nanoseconds, at least 1, until {@link #mayJudge} has to be called again. */
    static long untilCheck(long begunNanos, long deadlineNanos, long nowNanos) {
        long lead = leadNanos(begunNanos, deadlineNanos);
        long left = deadlineNanos - nowNanos;
        if (left > EARLY * lead) {
            return left - EARLY * lead;
        }
        if (left > lead) {
            return left - lead;
        }
        return left > 0 ? left : Math.min(POLL_NANOS, lead);
    }

    /**
     * Returns the nanoseconds, at least 1, until the deadline has to be checked again. If listeners were not warned
     * yet, a check of the warning may be due earlier.
     */
    public static long untilCheck(long begunNanos, long deadlineNanos, boolean isWarned, long nowNanos) {
        long until = untilCheck(begunNanos, deadlineNanos, nowNanos);
        return isWarned
                ? until
                : Math.min(until, untilCheck(begunNanos, warnNanos(begunNanos, deadlineNanos), nowNanos));
    }

    /**
     * Checks the deadline, and asks the ranks when a question is due.
     *
     * @param call          operation to ask about, or null
     * @param among         ranks whose answers are awaited, or null for all ranks
     * @param begunNanos    begin of the wait on the context's clock
     * @param deadlineNanos deadline on the context's clock
     * @param nowNanos      current time on the context's clock
     * @return whether the deadline is over and the answers allow a judgement
     */
    public boolean mayJudge(CallHeader call, BitSet among, long begunNanos, long deadlineNanos, long nowNanos) {
        long lead = leadNanos(begunNanos, deadlineNanos);
        if (looked && nowNanos - expectedNanos > STOOD_STILL_NANOS && again < AGAIN_MOST) {
            forget();
            again += nowNanos - deadlineNanos >= 0 ? 1 : 0;
        }
        looked = true;
        expectedNanos = nowNanos;
        if (nowNanos - (deadlineNanos - EARLY * lead) < 0) {
            return false;
        }
        ask(early, call, deadlineNanos - EARLY * lead, nowNanos);
        if (nowNanos - (deadlineNanos - lead) < 0) {
            return false;
        }
        ask(last, call, deadlineNanos - lead, nowNanos);
        boolean isOver = nowNanos - deadlineNanos >= 0
                && (nowNanos - last.askedNanos >= 2 * lead || !inquiry.isAnySilent(last.ask, among));
        if (isOver && again < AGAIN_MOST && maySilenceBeOurs(among)) {
            again++;
            forget();
            return false;
        }
        return isOver;
    }

    /** Returns whether a rank has sent nothing since the early question, and this process was paused in that time. */
    private boolean maySilenceBeOurs(BitSet among) {
        return inquiry.isAnySilent(early.ask, among) && inquiry.pausedSince(early.askedNanos) > 0;
    }

    private void ask(QuestionRound question, CallHeader call, long dueNanos, long nowNanos) {
        if (!question.isAsked || question.askedNanos - dueNanos < 0) {
            question.isAsked = true;
            question.askedNanos = nowNanos;
            question.ask = inquiry.askForLines(call);
        }
    }

    /**
     * Judges which ranks a collective waits for.
     *
     * @param sequence   sequence of the collective
     * @param begunNanos time at which the collective began
     * @param waitedFor  ranks that this rank waits for; empty if they are not known
     * @param movedNanos length, in nanoseconds, of the period before now in which data of this rank moved; 0 if no data
     *     moved
     * @return ranks to blame, and the state of each rank
     */
    public Diagnosis.Blame collective(long sequence, long begunNanos, BitSet waitedFor, long movedNanos) {
        return inquiry.diagnosis(early.ask, last.ask, sequence).ofCollective(waitedFor, own(begunNanos, movedNanos));
    }

    private Diagnosis.OwnState own(long begunNanos, long movedNanos) {
        return new Diagnosis.OwnState(inquiry.pausedSince(begunNanos), movedNanos);
    }

    /**
     * Returns the length of the period before now in which data moved. Data that moves shows that a rank is only slow,
     * so a judgement depends on this period.
     *
     * @param timeoutNanos time from the begin of a call to its deadline
     * @param movedNanos   time of the last move of data on the context's clock; 0 if no data moved
     * @param nowNanos     current time on the context's clock
     * @return a second in nanoseconds, or a part of a short timeout; 0 if no data moved within this period
     */
    public static long movedWithin(long timeoutNanos, long movedNanos, long nowNanos) {
        long within = Math.min(MAX_MOVING_NANOS, timeoutNanos / MOVING_PART);
        return movedNanos != 0 && nowNanos - movedNanos < within ? within : 0;
    }

    /**
     * Judges which ranks an operation without a number waits for.
     *
     * @param begunNanos time at which the operation began
     * @param waitedFor  ranks that this rank waits for
     * @param ownCall    call that this rank is in, for people; empty if its message is in flight
     * @param movedNanos length, in nanoseconds, of the period before now in which data of this operation moved; 0 if no
     *     data moved
     * @return ranks to blame, and the state of each rank
     */
    public Diagnosis.Blame waiting(long begunNanos, BitSet waitedFor, String ownCall, long movedNanos) {
        return inquiry.diagnosis(early.ask, last.ask, 0).ofWaiting(waitedFor, own(begunNanos, movedNanos), ownCall);
    }

    /**
     * Judges an operation that waits for any of several ranks.
     *
     * @param waitedFor ranks that this rank waits for; one of them is enough
     * @param ownCall   call that this rank is in, for people
     * @return ranks to blame, and the state of each rank
     */
    public Diagnosis.Blame waitingForAny(BitSet waitedFor, String ownCall) {
        return inquiry.diagnosis(early.ask, last.ask, 0).ofWaitingForAny(waitedFor, ownCall);
    }

    /** Judges the creation of a new group that waits for members that have not made the call. */
    Diagnosis.Blame missing(BitSet missing) {
        return inquiry.diagnosis(early.ask, last.ask, 0).ofMissing(missing);
    }

    /**
     * Sets the time of the next check. If the next check is late, the caller was paused.
     *
     * @param nanos time on the context's clock
     */
    public void nextLookAt(long nanos) {
        expectedNanos = nanos;
    }
}
