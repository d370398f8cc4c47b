package ferro.collectives.control;

import ferro.collectives.control.ControlMessage.Abort;
import java.util.concurrent.atomic.AtomicReference;

/** Why the group has failed, as far as this rank knows: a merge of what it saw and of what others told; thread-safe. */
final class FirstCause {
    /**
     * So long after the first cause this rank's own ones still count: what it sees later is a consequence, such as a link
     * that ends because its peer has given up. It is the first cause of the group, not of this rank: whoever stood still when
     * the others agreed would else change what they have long agreed on.
     */
    private static final long WINDOW_NANOS = 50_000_000L;

    private final Rules rules;
    private final AtomicReference<Known> known = new AtomicReference<>();

    /** What is known, and since when anything is, here or on a rank that told of it. */
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

    /**
     * Adds what another rank told, and since when that has known of a failure; returns what is agreed now if that changed it,
     * else null.
     */
    Failure told(Failure cause, long sinceNanos) {
        return add(cause, false, sinceNanos);
    }

    /** Returns what the others are told of a failure. */
    Abort message(Failure agreed, long nowNanos) {
        return Abort.of(agreed, nowNanos - known.get().sinceNanos);
    }

    /** Adds weak evidence: it counts only where nothing is known yet. Returns it if it does, else null. */
    Failure guessed(Failure cause, long nowNanos) {
        return known.compareAndSet(null, new Known(cause, nowNanos)) ? cause : null;
    }

    private Failure add(Failure cause, boolean local, long sinceNanos) {
        while (true) {
            Known before = known.get();
            boolean earlier = before == null || sinceNanos - before.sinceNanos < 0;
            if (local && !earlier && sinceNanos - before.sinceNanos > WINDOW_NANOS) {
                return null;
            }
            Failure merged = before == null ? cause : rules.merged(before.failure, cause);
            boolean isNews = before == null || merged != before.failure && !(local && merged.blamesAs(before.failure));
            if (!isNews && !earlier) {
                return null;
            }
            Known after = new Known(isNews ? merged : before.failure, earlier ? sinceNanos : before.sinceNanos);
            if (known.compareAndSet(before, after)) {
                return isNews ? merged : null;
            }
        }
    }
}
