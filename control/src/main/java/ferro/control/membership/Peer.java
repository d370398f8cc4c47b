package ferro.control.membership;

import ferro.control.membership.MembershipMessage.Beat;
import ferro.control.membership.MembershipMessage.Present;

/**
 * What this rank knows of the process behind another rank. Messages update it on the medium's thread, and the ticks of
 * the membership read it. A message that arrives twice, too late or out of order changes nothing.
 */
final class Peer {
    /** A rank with a longer interval than this one may be silent for this many of its own intervals. */
    private static final long INTERVALS = 3;

    private final int rank;
    private boolean present;
    private boolean awaited;
    private boolean over;
    private boolean cutOff;
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

    /** Begins the watch: a rank that stands still before it sends anything counts as silent from now on. */
    synchronized void awaitedFrom(long nowNanos) {
        awaited = true;
        if (!present) {
            heardAt = nowNanos;
        }
    }

    /** Records the first message. Returns whether it is news; a rank sends it once. */
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

    /** Records a heartbeat. Returns whether it reports a new pause. */
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

    /** Ends the watch: the rank has left in good order, or all groups are told that it is gone. */
    synchronized void end() {
        over = true;
    }

    /** Ends the watch over its silence: its process lives, and nothing that it sends arrives any more. */
    synchronized void cutOff() {
        cutOff = true;
    }

    synchronized boolean isOver() {
        return over;
    }

    /**
     * Returns whether its silence has a meaning: it has said neither that it sends no heartbeats nor that it leaves, and its
     * connection is there.
     */
    synchronized boolean isExpected() {
        return !over && !cutOff && (present ? intervalNanos > 0 : awaited);
    }

    /** Returns when an {@link #isExpected expected} rank was last heard. */
    synchronized long heardAt() {
        return heardAt;
    }

    /** Returns how long its silence has no meaning, with any settings: its interval may be longer than this rank's. */
    synchronized long honestSilenceNanos(long ownIntervalNanos) {
        return intervalNanos <= ownIntervalNanos ? 0 : INTERVALS * Math.min(intervalNanos, Long.MAX_VALUE / INTERVALS);
    }

    synchronized String identity() {
        return identity;
    }

    /** Returns the place of the process, for messages. */
    synchronized String placed() {
        return place.isEmpty() ? "" : " (" + place + ")";
    }

    /** Returns the length of a pause that was not reported yet, or 0. */
    synchronized long takePause() {
        if (pausesTaken == pausesHeard) {
            return 0;
        }
        pausesTaken = pausesHeard;
        return pauseNanos;
    }
}
