package ferro.control.failure;

import ferro.control.failure.ControlMessage.Abort;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** The cause of the group's failure, as this rank knows it: a merge of what it saw and others told; thread-safe. */
public final class FirstCause {
    /**
     * The time after the first cause in which causes that this rank sees itself still count. What it sees later is a
     * consequence, such as a link that ends because its peer has given up. The time starts at the first cause of the
     * group, not of this rank: otherwise a rank that stood still when the others agreed would change what they agreed
     * on long ago.
     */
    private static final long WINDOW_NANOS = 50_000_000L;

    /**
     * The time after the first cause in which a rank that ends may not have sent its text to all ranks. Launchers end the
     * survivors of a failure later.
     */
    private static final long SENDING_NANOS = 250_000_000L;

    private final FailurePolicy rules;
    private final AtomicReference<KnownCauses> known = new AtomicReference<>();

    /** The known cause, and the time since which any cause is known, here or on a rank that told of it. */
    private record KnownCauses(Failure failure, long sinceNanos) {}

    /** Knows of no failure yet. */
    public FirstCause(FailurePolicy rules) {
        this.rules = rules;
    }

    /** Returns the cause, or null. */
    public Failure cause() {
        KnownCauses now = known.get();
        return now == null ? null : now.failure;
    }

    /**
     * Adds a cause that this rank saw; of several such causes only the first text counts. Returns the agreed cause if
     * the other ranks have to be notified, else null.
     */
    public Failure seen(Failure cause, long nowNanos) {
        return add(cause, true, false, nowNanos);
    }

    /**
     * Adds a cause that this rank saw and that is part of the known cause, so that it is no consequence, however late this
     * rank sees it. Returns the agreed cause if the other ranks have to be notified, else null.
     */
    public Failure seenPart(Failure cause, long nowNanos) {
        return add(cause, true, true, nowNanos);
    }

    /**
     * Adds a cause that another rank told, and the time since which that rank has known of a failure. Returns the
     * agreed cause if the other ranks have to be notified, else null.
     */
    public Failure told(Failure cause, long sinceNanos) {
        return add(cause, false, false, sinceNanos);
    }

    /** Returns whether a rank that ends now may not have sent its text to all ranks. */
    public boolean mayBeSending(long nowNanos) {
        KnownCauses now = known.get();
        return now != null && nowNanos - now.sinceNanos <= SENDING_NANOS;
    }

    /** Returns the message that tells the others of a failure, and of the culprits that are known to be dead. */
    public Abort message(Failure agreed, Set<Integer> dead, long nowNanos) {
        return Abort.of(agreed, dead, nowNanos - known.get().sinceNanos);
    }

    /** Adds weak evidence: it counts only if nothing is known yet. Returns the cause if it counts, else null. */
    public Failure guessed(Failure cause, long nowNanos) {
        return known.compareAndSet(null, new KnownCauses(cause, nowNanos)) ? cause : null;
    }

    private Failure add(Failure cause, boolean local, boolean isPart, long sinceNanos) {
        while (true) {
            KnownCauses before = known.get();
            boolean earlier = before == null || sinceNanos - before.sinceNanos < 0;
            if (local && !isPart && !earlier && sinceNanos - before.sinceNanos > WINDOW_NANOS) {
                return null;
            }
            Failure merged = before == null ? cause : rules.merged(before.failure, cause);
            boolean changes = before == null || merged != before.failure && !(local && merged.saysAs(before.failure));
            if (!changes && !earlier) {
                return null;
            }
            KnownCauses after =
                    new KnownCauses(changes ? merged : before.failure, earlier ? sinceNanos : before.sinceNanos);
            if (known.compareAndSet(before, after)) {
                return changes && (before == null || merged.isNewsAfter(before.failure)) ? merged : null;
            }
        }
    }
}
