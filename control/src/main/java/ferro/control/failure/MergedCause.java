package ferro.control.failure;

import ferro.control.failure.ControlMessage.Abort;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The cause of the group's failure on this rank. The cause is merged from the causes that this rank has detected and
 * the causes that other ranks have sent. Thread-safe.
 */
public final class MergedCause {
    /**
     * The period after the first cause in which another cause that this rank detects still counts. A cause that this
     * rank detects after the period is a consequence, such as a link that ends because its peer has given up. The
     * period starts at the first cause of the group, not at the first cause of this rank. If the period started at this
     * rank's first cause, a rank whose process was paused would change a cause on which the other ranks agreed long
     * ago.
     */
    private static final long WINDOW_NANOS = 50_000_000L;

    /**
     * The period after the first cause in which a rank may end before it has sent its failure text to all ranks.
     * Launchers end the surviving ranks after this period.
     */
    private static final long SENDING_NANOS = 250_000_000L;

    private final FailurePolicy rules;
    private final AtomicReference<TimedCause> known = new AtomicReference<>();

    /** The merged cause, and the time of the first cause, on this rank or on a rank that has sent a cause. */
    private record TimedCause(Failure failure, long sinceNanos) {}

    /** Creates an object without a cause, for a group that has not failed. */
    public MergedCause(FailurePolicy rules) {
        this.rules = rules;
    }

    /** Returns the merged cause, or null if the group has not failed. */
    public Failure cause() {
        TimedCause now = known.get();
        return now == null ? null : now.failure;
    }

    /**
     * Adds a cause that this rank has detected. If this rank detects several causes with the same code and culprits,
     * only the text of the first cause counts. Returns the merged cause if this rank has to notify the other ranks,
     * otherwise null.
     */
    public Failure seen(Failure cause, long nowNanos) {
        return add(cause, true, false, nowNanos);
    }

    /**
     * Adds a cause that this rank has detected and that is part of the known cause. A part of the known cause is not a
     * consequence, even if this rank detects the part late. Returns the merged cause if this rank has to notify the
     * other ranks, otherwise null.
     */
    public Failure seenPart(Failure cause, long nowNanos) {
        return add(cause, true, true, nowNanos);
    }

    /**
     * Adds a cause that another rank has sent, and the time of the first failure according to the sender. Returns the
     * merged cause if this rank has to notify the other ranks, otherwise null.
     */
    public Failure told(Failure cause, long sinceNanos) {
        return add(cause, false, false, sinceNanos);
    }

    /** Returns whether a rank that ends now may not have sent its text to all ranks. */
    public boolean mayBeSending(long nowNanos) {
        TimedCause now = known.get();
        return now != null && nowNanos - now.sinceNanos <= SENDING_NANOS;
    }

    /** Returns the message that announces a failure to other ranks, with the culprits that are known to be dead. */
    public Abort message(Failure agreed, Set<Integer> dead, long nowNanos) {
        return Abort.of(agreed, dead, nowNanos - known.get().sinceNanos);
    }

    /** Adds a cause with weak evidence, if no cause is known yet. Returns the cause if it was added, otherwise null. */
    public Failure guessed(Failure cause, long nowNanos) {
        return known.compareAndSet(null, new TimedCause(cause, nowNanos)) ? cause : null;
    }

    private Failure add(Failure cause, boolean local, boolean isPart, long sinceNanos) {
        while (true) {
            TimedCause before = known.get();
            boolean earlier = before == null || sinceNanos - before.sinceNanos < 0;
            if (local && !isPart && !earlier && sinceNanos - before.sinceNanos > WINDOW_NANOS) {
                return null;
            }
            Failure merged = before == null ? cause : rules.merged(before.failure, cause);
            boolean changes = before == null || merged != before.failure && !(local && merged.saysAs(before.failure));
            if (!changes && !earlier) {
                return null;
            }
            TimedCause after =
                    new TimedCause(changes ? merged : before.failure, earlier ? sinceNanos : before.sinceNanos);
            if (known.compareAndSet(before, after)) {
                return changes && (before == null || merged.isNewsAfter(before.failure)) ? merged : null;
            }
        }
    }
}
