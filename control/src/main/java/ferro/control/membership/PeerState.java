package ferro.control.membership;

import ferro.control.membership.MembershipMessage.Heartbeat;
import ferro.control.membership.MembershipMessage.ProcessHello;

/**
 * The state of the process of another rank, according to the messages of that rank. The thread of the medium updates
 * this object when a message arrives, and the ticks of the membership read this object. A message that arrives twice,
 * too late or out of order changes nothing.
 */
final class PeerState {
    /**
     * The time for which another rank may be silent, in heartbeat intervals of that rank. The limit applies if the
     * other rank's interval is longer than the interval of this rank.
     */
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

    PeerState(int rank) {
        this.rank = rank;
    }

    int rank() {
        return rank;
    }

    /** Begins the watch. The silence of a rank that has not sent a message yet counts from now on. */
    synchronized void awaitedFrom(long nowNanos) {
        awaited = true;
        if (!present) {
            heardAt = nowNanos;
        }
    }

    /** Records the first message of the rank. Returns false if the message arrived before, or the watch has ended. */
    synchronized boolean heard(ProcessHello said, long nowNanos) {
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

    /** Records a heartbeat. Returns whether the heartbeat reports a new pause. */
    synchronized boolean heard(Heartbeat beat, long nowNanos) {
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

    /** Ends the watch over the rank. The rank has left normally, or all groups are notified that the rank is gone. */
    synchronized void end() {
        over = true;
    }

    /** Ends the watch over the rank's silence, because its process is alive but its messages do not arrive any more. */
    synchronized void cutOff() {
        cutOff = true;
    }

    synchronized boolean isOver() {
        return over;
    }

    /**
     * Returns whether messages of the rank are expected, so that its silence means a problem. Messages of a rank are
     * expected if the rank is connected, has not left, and has not announced that it sends no heartbeats.
     */
    synchronized boolean isExpected() {
        return !over && !cutOff && (present ? intervalNanos > 0 : awaited);
    }

    /** Returns the time of the last message of an {@link #isExpected expected} rank. */
    synchronized long heardAt() {
        return heardAt;
    }

    /**
     * Returns the time for which silence of the other rank is normal, whatever the settings of this rank are. The time
     * is above 0 if the other rank has a longer heartbeat interval than this rank.
     */
    synchronized long honestSilenceNanos(long ownIntervalNanos) {
        return intervalNanos <= ownIntervalNanos ? 0 : INTERVALS * Math.min(intervalNanos, Long.MAX_VALUE / INTERVALS);
    }

    synchronized String identity() {
        return identity;
    }

    /** Returns the host and the process id of the rank in parentheses, for texts; empty if both are unknown. */
    synchronized String placed() {
        return place.isEmpty() ? "" : " (" + place + ")";
    }

    /** Returns the length of a pause of the rank that was not reported to the groups yet, or 0. */
    synchronized long takePause() {
        if (pausesTaken == pausesHeard) {
            return 0;
        }
        pausesTaken = pausesHeard;
        return pauseNanos;
    }
}
