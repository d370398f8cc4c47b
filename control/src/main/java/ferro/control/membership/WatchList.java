package ferro.control.membership;

import java.util.BitSet;

/**
 * The ranks that this rank watches, and the ranks that watch it. The next rank in the circle replaces a rank that is over,
 * so that each rank is watched as long as others are there. Thread-safe.
 */
final class WatchList {
    private final WatchCircle circle;
    private final Peer[] peers;
    /** Ranks that this rank watches, or has watched until they were over. */
    private final BitSet watched = new BitSet();
    /** Ranks that receive the heartbeats of this rank. */
    private final BitSet watchers = new BitSet();
    /** The last rank of the circle that this rank has begun to watch. */
    private int last;

    WatchList(WatchCircle circle, Peer[] peers) {
        this.circle = circle;
        this.peers = peers;
        this.last = circle.rank();
        for (int rank : circle.watched()) {
            watched.set(rank);
            last = rank;
        }
        for (int rank : circle.watchers()) {
            watchers.set(rank);
        }
    }

    /** Returns the ranks that this rank watches at first, the next one first. */
    Peer[] first() {
        int[] ranks = circle.watched();
        Peer[] first = new Peer[ranks.length];
        for (int at = 0; at < first.length; at++) {
            first[at] = peers[ranks[at]];
        }
        return first;
    }

    /** Returns whether there are more ranks than this one watches at first. */
    boolean hasReplacements() {
        return circle.watched().length < peers.length - 1;
    }

    /** Returns the ranks that watch this one and are there. */
    synchronized BitSet watchers() {
        BitSet receivers = new BitSet();
        for (int rank = watchers.nextSetBit(0); rank >= 0; rank = watchers.nextSetBit(rank + 1)) {
            receivers.set(rank, !peers[rank].isOver());
        }
        return receivers;
    }

    /** Notes that a rank watches this one from now on. */
    synchronized void watchedBy(int rank) {
        watchers.set(rank);
    }

    /** Returns the rank that this one watches from now on in the place of one that is over; null if none is missing. */
    synchronized Peer replacement() {
        int count = 0;
        for (int rank = watched.nextSetBit(0); rank >= 0; rank = watched.nextSetBit(rank + 1)) {
            count += peers[rank].isOver() ? 0 : 1;
        }
        while (count < WatchCircle.WATCHED_MOST) {
            int next = (last + 1) % circle.worldSize();
            if (next == circle.rank()) {
                return null;
            }
            last = next;
            if (!peers[next].isOver()) {
                watched.set(next);
                return peers[next];
            }
        }
        return null;
    }
}
