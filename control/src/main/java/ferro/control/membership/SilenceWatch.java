package ferro.control.membership;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.failure.FailureHints;
import ferro.spi.Settings;
import java.util.Arrays;
import java.util.BitSet;

/** A watch that detects ranks which have been silent for too long. Only the ticks of the membership use this class. */
final class SilenceWatch {
    private final HeartbeatLimits times;
    private final PauseWatch pauses;
    private final NotifiedGroups members;
    private volatile WatchedPeer[] watched;
    private final JobMachines fleet;
    private long judgeFrom;

    /** A peer, and the reports about this peer that the groups have received. */
    private static final class WatchedPeer {
        private final PeerState peer;
        private boolean suspected;
        private boolean lost;
        private long heardBefore;

        WatchedPeer(PeerState peer) {
            this.peer = peer;
        }
    }

    SilenceWatch(
            HeartbeatLimits times, PauseWatch pauses, NotifiedGroups members, PeerState[] peers, JobMachines fleet) {
        this.times = times;
        this.pauses = pauses;
        this.members = members;
        this.fleet = fleet;
        watched = new WatchedPeer[peers.length];
        for (int i = 0; i < peers.length; i++) {
            watched[i] = new WatchedPeer(peers[i]);
        }
    }

    void begin(long nowNanos) {
        judgeFrom = nowNanos;
        for (WatchedPeer seen : times.areOn() ? watched : new WatchedPeer[0]) {
            seen.peer.awaitedFrom(nowNanos);
        }
    }

    /** Begins to watch the silence of one more peer. */
    synchronized void add(PeerState peer, long nowNanos) {
        if (times.areOn()) {
            peer.awaitedFrom(nowNanos);
        }
        WatchedPeer[] more = Arrays.copyOf(watched, watched.length + 1);
        more[watched.length] = new WatchedPeer(peer);
        watched = more;
    }

    /** Delays the judgement of silence after a pause, because this process must first read the arrived messages. */
    void paused(long pauseNanos, long nowNanos) {
        judgeFrom = nowNanos + Math.min(pauseNanos, times.intervalNanos());
    }

    void judge(long nowNanos) {
        for (WatchedPeer seen : watched) {
            if (seen.peer.isExpected()) {
                judge(seen, nowNanos);
            }
        }
    }

    private void judge(WatchedPeer seen, long nowNanos) {
        long heardAt = seen.peer.heardAt();
        long allowance = seen.peer.honestSilenceNanos(times.intervalNanos());
        long silence = nowNanos - heardAt;
        if (silence >= times.suspectNanos()) {
            // this process read no message while it stood still
            silence -= pauses.since(heardAt, nowNanos);
        }
        if (silence < Math.max(times.suspectNanos(), allowance)) {
            if (seen.suspected) {
                recovered(seen, heardAt);
            }
        } else if (nowNanos - judgeFrom >= 0) {
            suspect(seen, heardAt, silence);
            if (silence >= Math.max(times.limitNanos(), allowance)) {
                giveUp(seen, silence);
            }
        }
    }

    private void suspect(WatchedPeer seen, long heardAt, long silence) {
        if (!seen.suspected) {
            seen.suspected = true;
            seen.heardBefore = heardAt;
            report(
                    GroupEvent.Kind.SUSPECTED,
                    seen,
                    nothingHeard(seen, silence)
                            + ": is its process stopped, or the network to it cut? Its groups fail after "
                            + HeartbeatLimits.words(times.limitNanos()) + " of silence ("
                            + Settings.HEARTBEAT_LIMIT.name() + ")");
        }
    }

    private void recovered(WatchedPeer seen, long heardAt) {
        seen.suspected = false;
        seen.lost = false;
        members.found(seen.peer.rank());
        report(
                GroupEvent.Kind.RECOVERED,
                seen,
                NotifiedGroups.RANK + seen.peer.placed() + " is heard again after "
                        + HeartbeatLimits.words(heardAt - seen.heardBefore) + " of silence");
    }

    /** Notifies the groups of an event, and logs the event. */
    private void report(GroupEvent.Kind kind, WatchedPeer seen, String text) {
        members.event(kind, seen.peer.rank(), text);
        members.log(kind, seen.peer.rank(), text);
    }

    private void giveUp(WatchedPeer seen, long silence) {
        BitSet machine =
                seen.lost ? new BitSet() : fleet.silentWith(seen.peer.rank(), this::isWatched, this::isSuspected);
        if (!machine.isEmpty()) {
            String name = fleet.machine(seen.peer.rank());
            int others = fleet.unwatchedOn(name, this::isWatched);
            String text = NotifiedGroups.silence(name, machine)
                    + (others == 0 ? "" : " (other ranks watch " + others + " more there)")
                    + ": nothing heard for "
                    + HeartbeatLimits.words(silence) + ", limit " + Settings.HEARTBEAT_LIMIT.name() + " "
                    + HeartbeatLimits.words(times.limitNanos());
            for (WatchedPeer other : watched) {
                if (machine.get(other.peer.rank()) && !other.lost) {
                    other.lost = true;
                    members.lost(other.peer.rank(), Code.PARTITION, text);
                }
            }
        } else if (!seen.lost) {
            seen.lost = true;
            members.lost(
                    seen.peer.rank(),
                    Code.PARTITION,
                    nothingHeard(seen, silence) + ", limit " + Settings.HEARTBEAT_LIMIT.name() + " "
                            + HeartbeatLimits.words(times.limitNanos())
                            + FailureHints.SILENT);
        }
    }

    private boolean isWatched(int rank) {
        return seen(rank) != null;
    }

    /** Returns whether this rank watches a rank and that rank is silent. */
    boolean isSuspected(int rank) {
        WatchedPeer seen = seen(rank);
        return seen != null && seen.suspected && seen.peer.isExpected();
    }

    private WatchedPeer seen(int rank) {
        for (WatchedPeer seen : watched) {
            if (seen.peer.rank() == rank) {
                return seen;
            }
        }
        return null;
    }

    private static String nothingHeard(WatchedPeer seen, long silence) {
        return "nothing heard from " + NotifiedGroups.RANK + seen.peer.placed() + " for "
                + HeartbeatLimits.words(silence);
    }
}
