package ferro.collectives.control;

import ferro.collectives.control.MembershipMessage.Beat;
import ferro.collectives.control.MembershipMessage.Present;

/**
 * What this rank knows of the process behind another one. Messages write here on the medium's thread, the membership's ticks
 * read; what came twice, too late or in another order changes nothing.
 */
final class Peer {
    /** A rank with a longer interval than ours may be silent for so many of its own. */
    private static final long INTERVALS = 3;

    private final int rank;
    private boolean present;
    private boolean awaited;
    private boolean over;
    private long intervalNanos;
    private String identity = "";
    private String place = "";
    private long heardAt;
    private long lastBeat;
    private long pausesHeard;
    private long pauseNanos;
    private long pausesTaken;

    Peer(int rank) {
        this.rank = rank;
    }

    int rank() {
        return rank;
    }

    /** The watch begins: a rank that stands still before it says anything is silent from now on. */
    synchronized void awaitedFrom(long nowNanos) {
        awaited = true;
        if (!present) {
            heardAt = nowNanos;
        }
    }

    /** Returns whether this is news; a rank says it once. */
    synchronized boolean heard(Present said, long nowNanos) {
        if (present || over) {
            return false;
        }
        present = true;
        intervalNanos = said.intervalNanos();
        identity = said.identity();
        place = said.place();
        heardAt = nowNanos;
        return true;
    }

    /** Returns whether it tells of a pause that is news. */
    synchronized boolean heard(Beat beat, long nowNanos) {
        if (beat.number() <= lastBeat || over) {
            return false;
        }
        lastBeat = beat.number();
        heardAt = nowNanos;
        if (beat.pauses() <= pausesHeard) {
            return false;
        }
        pausesHeard = beat.pauses();
        pauseNanos = beat.pauseNanos();
        return true;
    }

    /** It has left in good order, or the medium has told all groups that it is gone: there is nothing to watch any more. */
    synchronized void end() {
        over = true;
    }

    synchronized boolean isOver() {
        return over;
    }

    /** Whether its silence means something: it has not said that it sends no heartbeats, nor that it leaves. */
    synchronized boolean isExpected() {
        return !over && (present ? intervalNanos > 0 : awaited);
    }

    /** Returns when it was heard last; of an {@link #isExpected expected} one. */
    synchronized long heardAt() {
        return heardAt;
    }

    /** Returns how long its silence means nothing, whatever the settings here say: its interval may be longer than ours. */
    synchronized long honestSilenceNanos(long ownIntervalNanos) {
        return intervalNanos <= ownIntervalNanos ? 0 : INTERVALS * Math.min(intervalNanos, Long.MAX_VALUE / INTERVALS);
    }

    synchronized String identity() {
        return identity;
    }

    /** For messages: rank and process. */
    synchronized String placed() {
        return place.isEmpty() ? "" : " (" + place + ")";
    }

    /** Returns the length of a pause that nobody was told of yet, or 0. */
    synchronized long takePause() {
        if (pausesTaken == pausesHeard) {
            return 0;
        }
        pausesTaken = pausesHeard;
        return pauseNanos;
    }
}
