package ferro.control.group;

import ferro.control.failure.Overlay;
import java.util.BitSet;

/**
 * The neighbours of this rank in the overlay of a group, as far as this rank knows which ranks are gone. Thread-safe.
 *
 * <p>A rank says goodbye to its neighbours and to the ranks that follow it. This rank follows each rank that has replaced a
 * neighbour: without that, the replacement would not say goodbye to this rank.
 */
final class OverlayNeighbours {
    private final Overlay overlay;
    /** Ranks that have left. */
    private final BitSet left = new BitSet();

    /** Ranks that have left or are lost. */
    private final BitSet gone = new BitSet();
    /** Ranks that have replaced a neighbour. */
    private final BitSet replacements = new BitSet();
    /** Ranks that receive the goodbye of this rank, because they have asked for it. */
    private final BitSet followers = new BitSet();
    /** Ranks that say goodbye to this rank, because this rank has asked them. */
    private final BitSet followed = new BitSet();
    /** Ranks of these that have had the time to receive that question. */
    private final BitSet reached = new BitSet();

    OverlayNeighbours(Overlay overlay) {
        this.overlay = overlay;
    }

    /** Returns whether all other ranks are neighbours. */
    boolean areAll() {
        return overlay.isMesh();
    }

    /** Returns the ranks to which this rank sends what all ranks have to know. */
    synchronized BitSet ranks() {
        return overlay.neighbours(gone);
    }

    /** Returns the ranks that receive the goodbye of this rank: its neighbours and the ranks that follow it. */
    synchronized BitSet goodbyeReceivers() {
        BitSet receivers = overlay.neighbours(gone);
        receivers.or(followers);
        return receivers;
    }

    /** Returns whether another rank is a neighbour as long as no rank is gone. */
    boolean isNeighbour(int peer) {
        return overlay.isNeighbour(peer);
    }

    /** Returns whether another rank says goodbye to this rank when it leaves: its end without a word is then a death. */
    synchronized boolean saysGoodbye(int peer) {
        return overlay.isNeighbour(peer) || followed.get(peer);
    }

    /** Returns whether the end of another rank without a goodbye is a death: a question to it cannot be on its way any more. */
    synchronized boolean hasTimeToSayGoodbye(int peer) {
        return overlay.isNeighbour(peer) || reached.get(peer);
    }

    /** Notes that a rank has had the time to receive the question of this rank for its goodbye. */
    synchronized void reached(int peer) {
        reached.set(peer);
    }

    /**
     * Returns whether this rank is the one that tells the end of another rank to all. In a large group that is the next rank
     * that is there, so that all ranks hear of it in one text; the other neighbours wait for that.
     */
    synchronized boolean reports(int peer) {
        BitSet others = (BitSet) gone.clone();
        others.clear(peer);
        return overlay.isMesh() || overlay.previous(others) == peer;
    }

    /** Returns the rank after this one that has not left, as far as this rank knows. */
    synchronized int next() {
        return overlay.next(left);
    }

    /** Returns the next rank after another one that is there, as far as this rank knows. That rank knows of its leave. */
    synchronized int nextAfter(int peer) {
        return overlay.nextAfter(peer, gone);
    }

    /** Returns the rank before this one that has not left, as far as this rank knows. */
    synchronized int previous() {
        return overlay.previous(left);
    }

    /** Notes that ranks have left, as {@link #gone} does. A goodbye says which ranks have left, not which are lost. */
    synchronized BitSet left(BitSet ranks) {
        left.or(ranks);
        return gone(ranks);
    }

    /** Notes that ranks are gone. Returns the ranks that replace them and that this rank has to follow now. */
    synchronized BitSet gone(BitSet ranks) {
        gone.or(ranks);
        BitSet added = overlay.neighbours(gone);
        for (int peer = added.nextSetBit(0); peer >= 0; peer = added.nextSetBit(peer + 1)) {
            // a rank that this one follows for its messages does not know the news yet
            added.set(peer, !overlay.isNeighbour(peer) && !replacements.get(peer));
        }
        replacements.or(added);
        followed.or(added);
        return added;
    }

    /** Returns the ranks between two others that are gone with a leaver: the leaver, and those that had left before. */
    BitSet between(int previous, int leaver, int next) {
        BitSet gone = overlay.isMesh() ? new BitSet() : overlay.between(previous, next);
        gone.set(leaver);
        return gone;
    }

    /** Notes that this rank follows another one. Returns whether it has to ask for that. */
    synchronized boolean follow(int peer) {
        boolean isNew = !saysGoodbye(peer);
        followed.set(peer);
        return isNew;
    }

    /** Notes that another rank follows this one. */
    synchronized void followedBy(int peer) {
        followers.set(peer);
    }
}
