package ferro.backend.simulated;

/**
 * Delays what travels in one direction under a seed. Each item has a delay of its own, and items arrive in order. An item
 * that is cut off or lost never arrives.
 */
final class DelayLine {
    private final long number;
    private final int from;
    private final int to;
    /** When the last item arrives, which the next one must not overtake. */
    private long last;

    private long departures;
    /** Number of the last item that had left when {@link #lose} was last called. Items up to this one... */
    private long lostDepartures;
    /** ...arrive only if they arrive by this time. */
    private long lostAfter;

    private boolean cut;

    DelayLine(long number, int from, int to) {
        this.number = number;
        this.from = from;
        this.to = to;
    }

    long number() {
        return number;
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }

    /** Notes that an item leaves; returns its number in this direction. */
    long departs() {
        return ++departures;
    }

    /** Returns when the next item arrives. */
    long next(EventQueue events) {
        last = Math.max(last + 1, events.elapsed() + events.delay());
        return last;
    }

    /** Drops every item that leaves from now on. */
    void cut() {
        cut = true;
    }

    boolean isCut() {
        return cut;
    }

    /**
     * Loses the items on the way that would arrive later than {@code keptNanos} from now; the next item arrives at the
     * earliest {@code silentNanos} from now.
     */
    void lose(long nowNanos, long keptNanos, long silentNanos) {
        lostDepartures = departures;
        lostAfter = nowNanos + keptNanos;
        last = Math.max(last, nowNanos + silentNanos);
    }

    /** Returns whether a departure arrives now. */
    boolean delivers(long departure, long nowNanos) {
        return departure > lostDepartures || nowNanos <= lostAfter;
    }
}
