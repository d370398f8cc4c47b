package ferro.backend.simulated;

/** How things travel one way under a seed: in order, each after a time of its own; what breaks or is lost never arrives. */
final class Way {
    private final long number;
    private final int from;
    private final int to;
    /** When the last thing arrives, which the next one must not overtake. */
    private long last;

    private long departures;
    /** What had left before the sender died... */
    private long lostDepartures;
    /** ...arrives only if it arrives by then. */
    private long lostAfter;

    private boolean cut;

    Way(long number, int from, int to) {
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

    /** Notes that something leaves; returns its number on this way. */
    long departs() {
        return ++departures;
    }

    /** Returns when the next thing arrives. */
    long next(Agenda agenda) {
        last = Math.max(last + 1, agenda.elapsed() + agenda.delay());
        return last;
    }

    /** Lets everything that leaves from now on vanish. */
    void cut() {
        cut = true;
    }

    boolean isCut() {
        return cut;
    }

    /** Loses what is on the way and would arrive after a time; the next thing arrives at least so long from now. */
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
