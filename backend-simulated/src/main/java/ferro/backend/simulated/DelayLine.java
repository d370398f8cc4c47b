package ferro.backend.simulated;

/**
 * A line that delays items in one direction between two ranks. Each item has a separate delay, which is drawn from the
 * seed. Items arrive in order. An item that is cut off or lost never arrives.
 */
final class DelayLine {
    private final long number;
    private final int from;
    private final int to;
    /** Arrival time of the last item, which the next item must not overtake. */
    private long last;

    private long departures;
    /** Number of items that had departed when {@link #lose} was called last. */
    private long lostDepartures;
    /** Time after which the items up to {@link #lostDepartures} no longer arrive. */
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

    /** Records that an item departs. Returns the number of the item among all items in the same direction. */
    long departs() {
        return ++departures;
    }

    /** Returns the arrival time of the next item. */
    long next(EventQueue events) {
        last = Math.max(last + 1, events.elapsed() + events.delay());
        return last;
    }

    /** Drops every item that departs after this call. */
    void cut() {
        cut = true;
    }

    boolean isCut() {
        return cut;
    }

    /**
     * Loses the items in flight that would arrive more than {@code keptNanos} from now. The next item arrives at least
     * {@code silentNanos} from now.
     */
    void lose(long nowNanos, long keptNanos, long silentNanos) {
        lostDepartures = departures;
        lostAfter = nowNanos + keptNanos;
        last = Math.max(last, nowNanos + silentNanos);
    }

    /** Returns whether the item with the number {@code departure} arrives now. */
    boolean delivers(long departure, long nowNanos) {
        return departure > lostDepartures || nowNanos <= lostAfter;
    }
}
