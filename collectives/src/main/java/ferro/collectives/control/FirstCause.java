package ferro.collectives.control;

import java.util.concurrent.atomic.AtomicReference;

/** Why the group has failed, as far as this rank knows: a merge of what it saw and of what others told; thread-safe. */
final class FirstCause {
    /**
     * So long after the first cause this rank's own ones still count: what it sees later is a consequence, such as a link
     * that ends because its peer has given up.
     */
    private static final long WINDOW_NANOS = 50_000_000L;

    private final Rules rules;
    private final AtomicReference<Known> known = new AtomicReference<>();

    /** What is known, and since when anything is. */
    private record Known(Failure failure, long sinceNanos) {}

    FirstCause(Rules rules) {
        this.rules = rules;
    }

    /** Returns the cause, or null. */
    Failure cause() {
        Known now = known.get();
        return now == null ? null : now.failure;
    }

    /** Adds what this rank saw, of which only the first text counts; returns what is agreed now if that changed it, else null. */
    Failure seen(Failure cause, long nowNanos) {
        return add(cause, true, nowNanos);
    }

    /** Adds what another rank told; returns what is agreed now if that changed it, else null. */
    Failure told(Failure cause, long nowNanos) {
        return add(cause, false, nowNanos);
    }

    /** Adds weak evidence: it counts only where nothing is known yet. Returns it if it does, else null. */
    Failure guessed(Failure cause, long nowNanos) {
        return known.compareAndSet(null, new Known(cause, nowNanos)) ? cause : null;
    }

    private Failure add(Failure cause, boolean local, long nowNanos) {
        while (true) {
            Known before = known.get();
            if (before != null && local && nowNanos - before.sinceNanos > WINDOW_NANOS) {
                return null;
            }
            Failure merged = before == null ? cause : rules.merged(before.failure, cause);
            if (before != null && (merged == before.failure || local && merged.blamesAs(before.failure))) {
                return null;
            }
            Known after = new Known(merged, before == null ? nowNanos : before.sinceNanos);
            if (known.compareAndSet(before, after)) {
                return merged;
            }
        }
    }
}
