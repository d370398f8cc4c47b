package ferro.control.group;

import ferro.control.failure.Overlay;
import java.util.BitSet;

/**
 * The neighbours of this rank in the overlay of a group, computed from the ranks that are gone according to this rank.
 * Thread-safe.
 *
 * <p>A rank sends a goodbye to its neighbours and to its followers. A follower of a rank is a rank that has asked for
 * its goodbye. This rank asks each rank that has replaced a neighbour for its goodbye. Without a request, the
 * replacement would not send a goodbye to this rank.
 */
final class OverlayNeighbours {
    private final Overlay overlay;
    /** Ranks that have left. */
    private final BitSet left = new BitSet();

    /** Ranks that have left or are lost. */
    private final BitSet gone = new BitSet();
    /** Ranks that have replaced a neighbour. */
    private final BitSet replacements = new BitSet();
    /** Ranks that have asked for the goodbye of this rank. */
    private final BitSet followers = new BitSet();
    /** Ranks that this rank has asked for their goodbye. */
    private final BitSet followed = new BitSet();
    /** Ranks that have had time to receive the request of this rank for their goodbye. */
    private final BitSet reached = new BitSet();

    OverlayNeighbours(Overlay overlay) {
        this.overlay = overlay;
    }

    /** Returns whether all other ranks are neighbours. */
    boolean areAll() {
        return overlay.isMesh();
    }

    /** Returns the ranks to which this rank sends failures and leaves. */
    synchronized BitSet ranks() {
        return overlay.neighbours(gone);
    }

    /** Returns the ranks that receive the goodbye of this rank: its neighbours and its followers. */
    synchronized BitSet goodbyeReceivers() {
        BitSet receivers = overlay.neighbours(gone);
        receivers.or(followers);
        return receivers;
    }

    /** Returns whether another rank is a neighbour as long as no rank is gone. */
    boolean isNeighbour(int peer) {
        return overlay.isNeighbour(peer);
    }

    /** Returns whether another rank sends this rank a goodbye, so that an end without a goodbye shows a death. */
    synchronized boolean saysGoodbye(int peer) {
        return overlay.isNeighbour(peer) || followed.get(peer);
    }

    /** Returns whether a rank that ends without a goodbye has died; false if a request for the goodbye is in flight. */
    synchronized boolean hasTimeToSayGoodbye(int peer) {
        return overlay.isNeighbour(peer) || reached.get(peer);
    }

    /** Records that a rank has had time to receive the request of this rank for its goodbye. */
    synchronized void reached(int peer) {
        reached.set(peer);
    }

    /**
     * Returns whether this rank reports the end of another rank to all ranks. In a large group, only the next rank
     * after the ended rank that is not gone reports the end. Therefore all ranks receive the same text. The other
     * neighbours of the ended rank wait for the report of the next rank.
     */
    synchronized boolean reports(int peer) {
        BitSet others = (BitSet) gone.clone();
        others.clear(peer);
        return overlay.isMesh() || overlay.previous(others) == peer;
    }

    /** Returns the nearest rank after this rank that has not left, according to this rank. */
    synchronized int next() {
        return overlay.next(left);
    }

    /**
     * Returns the next rank after another rank that is not gone, according to this rank. Each rank sends its goodbye to
     * its next rank.
     */
    synchronized int nextAfter(int peer) {
        return overlay.nextAfter(peer, gone);
    }

    /** Returns the nearest rank before this rank that has not left, according to this rank. */
    synchronized int previous() {
        return overlay.previous(left);
    }

    /** Records that ranks have left and are {@link #gone}. Goodbyes name ranks that have left, but no lost ranks. */
    synchronized BitSet left(BitSet ranks) {
        left.or(ranks);
        return gone(ranks);
    }

    /** Records that ranks are gone. Returns the replacements that have to be asked for a goodbye. */
    synchronized BitSet gone(BitSet ranks) {
        gone.or(ranks);
        BitSet added = overlay.neighbours(gone);
        for (int peer = added.nextSetBit(0); peer >= 0; peer = added.nextSetBit(peer + 1)) {
            // a rank that was asked because of its messages has not received the failure or the earliest leave yet
            added.set(peer, !overlay.isNeighbour(peer) && !replacements.get(peer));
        }
        replacements.or(added);
        followed.or(added);
        return added;
    }

    /** Returns the gone ranks between {@code previous} and {@code next}: the leaving rank and earlier leaves. */
    BitSet between(int previous, int leaver, int next) {
        BitSet gone = overlay.isMesh() ? new BitSet() : overlay.between(previous, next);
        gone.set(leaver);
        return gone;
    }

    /** Records that this rank asks another rank for its goodbye. Returns whether the request has to be sent. */
    synchronized boolean follow(int peer) {
        boolean isNew = !saysGoodbye(peer);
        followed.set(peer);
        return isNew;
    }

    /** Records that another rank has asked for the goodbye of this rank. */
    synchronized void followedBy(int peer) {
        followers.set(peer);
    }
}
