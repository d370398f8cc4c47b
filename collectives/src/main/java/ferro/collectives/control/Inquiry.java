package ferro.collectives.control;

import ferro.spi.CallHeader;
import java.util.BitSet;

/**
 * Asks all ranks where they stand shortly before a deadline, so that it can be judged by their answers when it comes: at once
 * if all have answered, a little later if not. A rank that stood still itself asks again first: whatever the others told
 * before they answer is read before the answers are. Called by one thread at a time.
 */
public final class Inquiry {
    /** So long before a deadline the ranks are asked; judged is at most as long after it. */
    private static final long LEAD_MOST_NANOS = 50_000_000L;
    /** Whoever looks this much later than it wanted has stood still. */
    private static final long STOOD_STILL_NANOS = 250_000_000L;

    private final GroupControl control;
    private boolean asking;
    private long askedNanos;
    private long ask;
    private boolean looked;
    private long expectedNanos;

    Inquiry(GroupControl control) {
        this.control = control;
    }

    /** Forgets what was asked: another operation is looked at. */
    public void begin() {
        asking = false;
        looked = false;
    }

    /**
     * Returns how long before a deadline the ranks are asked.
     *
     * @param timeoutNanos from begin to deadline
     * @return nanoseconds
     */
    public static long leadNanos(long timeoutNanos) {
        return Math.max(1, Math.min(LEAD_MOST_NANOS, timeoutNanos / 4));
    }

    /**
     * Looks, and asks when it is time.
     *
     * @param call          operation to ask about, or null
     * @param among         ranks whose answers are waited for, or null for all
     * @param deadlineNanos when it ends
     * @param leadNanos     of {@link #leadNanos}
     * @param nowNanos      now
     * @return whether the deadline is over and there are answers to judge by
     */
    public boolean mayJudge(CallHeader call, BitSet among, long deadlineNanos, long leadNanos, long nowNanos) {
        if (looked && nowNanos - expectedNanos > STOOD_STILL_NANOS) {
            asking = false;
        }
        looked = true;
        expectedNanos = nowNanos;
        if (nowNanos - (deadlineNanos - leadNanos) < 0) {
            return false;
        }
        if (!asking || askedNanos - (deadlineNanos - leadNanos) < 0) {
            asking = true;
            askedNanos = nowNanos;
            ask = control.ask(call);
        }
        return nowNanos - deadlineNanos >= 0
                && (nowNanos - askedNanos >= 2 * leadNanos || !control.isAnySilent(ask, among));
    }

    /**
     * Returns what to judge by: whoever has not answered it is silent, whatever was asked since.
     *
     * @return number of the question, after {@link #mayJudge} has asked it
     */
    public long question() {
        return ask;
    }

    /**
     * Says when the next look is, where it is not soon.
     *
     * @param nanos on the context's clock
     */
    void nextLookAt(long nanos) {
        expectedNanos = nanos;
    }
}
