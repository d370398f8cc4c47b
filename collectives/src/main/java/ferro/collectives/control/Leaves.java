package ferro.collectives.control;

import ferro.FerroException.Code;
import ferro.collectives.control.ControlMessage.Goodbye;
import ferro.collectives.control.ControlMessage.Heard;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * The ranks that have left a group, and the leave of this one.
 *
 * <p>A rank may leave as soon as its own calls have returned. Its goodbye has the number of its last collective, and how many
 * messages it has sent to and taken from the rank that is told; a call of another rank fails for the leaver by these numbers
 * alone: a collective with a higher number, a receive that none of the messages sent can meet, a send that was not taken.
 *
 * <p>Who hears a goodbye answers at once how far it is itself, and once more when it has ended the collectives and has the
 * messages that the leaver took part in: then nothing that the leaver sent can be lost with it. Thread-safe; nothing waits.
 */
public final class Leaves {
    private final GroupControl control;
    private final GroupSpec group;
    private final LongSupplier ended;
    private final MessageCounts messages = new MessageCounts();
    private final Map<Integer, Goodbye> left = new TreeMap<>();
    /** Ranks that have left and were not told yet that this one has all they sent. */
    private final BitSet unconfirmed = new BitSet();

    private final BitSet endedLinks = new BitSet();
    private final BitSet lost = new BitSet();

    private volatile boolean any;
    private volatile boolean anyUnconfirmed;
    private volatile Leaving own;

    /** {@code ended} tells the number of the last collective that has ended on this rank. */
    Leaves(GroupControl control, GroupSpec group, LongSupplier ended) {
        this.control = control;
        this.group = group;
        this.ended = ended;
    }

    /**
     * Returns the counts of messages.
     *
     * @return counts, to be kept up by whoever moves messages
     */
    public MessageCounts messages() {
        return messages;
    }

    /**
     * Returns a rank that has left without calling a collective; costs one read while nobody has left.
     *
     * @param sequence of the collective
     * @return rank, or -1
     */
    public int before(long sequence) {
        return any ? search(sequence) : -1;
    }

    private synchronized int search(long sequence) {
        for (Map.Entry<Integer, Goodbye> gone : left.entrySet()) {
            if (gone.getValue().lastSequence() < sequence) {
                return gone.getKey();
            }
        }
        return -1;
    }

    /** Returns what a rank said when it left, or null while it has not. */
    Goodbye of(int peer) {
        return any ? find(peer) : null;
    }

    /**
     * Returns how many messages a rank that has left has sent to this one.
     *
     * @param peer rank that has left
     * @return count
     */
    public long sentBy(int peer) {
        return of(peer).sent();
    }

    /**
     * Returns how many messages of this rank were delivered on a rank that has left.
     *
     * @param peer rank that has left
     * @return count
     */
    public long takenBy(int peer) {
        return of(peer).taken();
    }

    private synchronized Goodbye find(int peer) {
        return left.get(peer);
    }

    /**
     * Returns whether any rank has left; costs one read.
     *
     * @return false while all are there
     */
    public boolean any() {
        return any;
    }

    /**
     * Returns whether a rank has left; costs one read while nobody has.
     *
     * @param peer rank
     * @return whether its goodbye was heard
     */
    public boolean has(int peer) {
        return of(peer) != null;
    }

    /**
     * Fails the group, since a call cannot succeed without a rank that has left.
     *
     * @param peer rank that has left
     * @param call what needs it, for people
     */
    public void fail(int peer, String call) {
        if (control.differsFromLeaver(peer, of(peer))) {
            // who left did so after another call than this rank's: that is what went wrong
            return;
        }
        String text = text(peer) + "; " + call + ": if rank " + peer
                + " should have been there, its own output says why it left";
        control.failUnlessFailed(new Failure(Code.PEER_LOST, group.rank(), -1, Integer.toString(peer), text, null));
    }

    /** Says when a rank left: rank 0 left group "world" after seq 17. */
    String text(int peer) {
        Goodbye said = of(peer);
        String after = said == null || said.lastSequence() == 0
                ? " before its first collective"
                : " after seq " + said.lastSequence();
        return "rank " + peer + " left group \"" + group.name() + "\"" + after;
    }

    /** The link of messages to a rank has ended: what has not come by now will not. */
    void endOfMessages(int peer) {
        synchronized (this) {
            endedLinks.set(peer);
        }
    }

    /**
     * Returns whether a message of a rank that has left is lost; asked when everything that has come was looked at.
     *
     * @param peer rank that has left
     * @return whether its link has ended with fewer messages than it has sent
     */
    public boolean hasLostMessages(int peer) {
        Goodbye said = of(peer);
        synchronized (this) {
            return said != null && endedLinks.get(peer) && messages.look(peer).arrived() < said.sent();
        }
    }

    /** A rank has left: answers it. */
    void left(int peer, Goodbye said) {
        synchronized (this) {
            if (left.putIfAbsent(peer, said) != null) {
                return;
            }
            unconfirmed.set(peer);
            any = true;
            anyUnconfirmed = true;
        }
        if (!confirm(peer, said)) {
            control.tell(peer, new Heard(ended.getAsLong(), messages.look(peer).arrived()));
        }
        Leaving leaving = own;
        if (leaving != null) {
            leaving.isOver(peer);
        }
    }

    /** Tells ranks that have left once this one has all they sent; called when something has ended, costs one read mostly. */
    public void confirm() {
        if (anyUnconfirmed) {
            confirmAll();
        }
    }

    private void confirmAll() {
        BitSet those;
        synchronized (this) {
            those = (BitSet) unconfirmed.clone();
        }
        those.stream().forEach(peer -> confirm(peer, of(peer)));
    }

    private boolean confirm(int peer, Goodbye said) {
        long now = ended.getAsLong();
        long arrived = messages.look(peer).arrived();
        if (now < said.lastSequence() || arrived < said.sent()) {
            return false;
        }
        synchronized (this) {
            if (!unconfirmed.get(peer)) {
                return true;
            }
            unconfirmed.clear(peer);
            anyUnconfirmed = !unconfirmed.isEmpty();
        }
        control.tell(peer, new Heard(now, arrived));
        return true;
    }

    /**
     * Tells all ranks that this one leaves.
     *
     * @param last   its last collective, or null
     * @param losers ranks that need this one until they have ended that collective
     * @param until  when it is over
     * @return the leave, over when all have answered
     */
    Leaving leave(CallHeader last, BitSet losers, Leaving.Until until) {
        boolean failed = until == Leaving.Until.ALL_HAVE_HEARD;
        long sequence = last == null ? 0 : last.sequence();
        Leaving leaving = new Leaving(
                peer -> losers.get(peer) && !failed ? sequence : 0,
                peer -> failed ? 0 : messages.look(peer).sent(),
                until);
        for (int peer = 0; peer < group.worldSize(); peer++) {
            if (peer != group.rank()) {
                leaving.expect(peer);
            }
        }
        own = leaving;
        for (int peer = 0; peer < group.worldSize(); peer++) {
            if (peer != group.rank()) {
                MessageCounts.OfPeer counts = messages.look(peer);
                Goodbye said = new Goodbye(
                        sequence,
                        counts.sent(),
                        counts.taken(),
                        last == null ? 0 : last.fingerprint(),
                        last == null ? "" : last.text());
                control.tell(peer, said);
                if (has(peer) || isLost(peer)) {
                    leaving.isOver(peer);
                }
            }
        }
        if (!failed && control.failure() != null) {
            // it came when there was no leave yet that it could have ended
            leaving.end();
        }
        return leaving;
    }

    /** A rank has answered the goodbye of this one. */
    void heard(int peer, Heard said) {
        Leaving leaving = own;
        if (leaving != null) {
            leaving.heard(peer, said.ended(), said.arrived());
        }
    }

    private synchronized boolean isLost(int peer) {
        return lost.get(peer);
    }

    /** A rank is gone: it needs nothing any more. */
    void lost(int peer) {
        synchronized (this) {
            lost.set(peer);
        }
        Leaving leaving = own;
        if (leaving != null) {
            leaving.isOver(peer);
        }
    }

    /** The group has failed: nobody needs anything of it any more. */
    void failed() {
        Leaving leaving = own;
        if (leaving != null && leaving.until() != Leaving.Until.ALL_HAVE_HEARD) {
            leaving.end();
        }
    }

    /** Compares the last calls of all that have left with this rank's. */
    void compare() {
        if (any) {
            Map<Integer, Goodbye> all;
            synchronized (this) {
                all = new TreeMap<>(left);
            }
            all.forEach(control::differsFromLeaver);
        }
    }
}
