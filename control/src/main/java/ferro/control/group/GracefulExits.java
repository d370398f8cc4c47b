package ferro.control.group;

import ferro.FerroException.Code;
import ferro.control.failure.Advice;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.Heard;
import ferro.control.failure.Failure;
import ferro.control.wire.RankLists;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import java.util.BitSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * The ranks that have left a group, and the leave of this rank.
 *
 * <p>A rank may leave as soon as its own calls have returned. Its goodbye carries the number of its last collective,
 * and how many messages it has sent to and taken from the receiver of the goodbye. These numbers alone decide whether a
 * call of another rank fails because of the rank that left. A call fails if it is a collective with a higher number, a
 * receive that none of the sent messages can match, or a send that was not taken.
 *
 * <p>A rank that receives a goodbye answers at once how far it is itself. It answers again when it has ended the
 * collectives that the leaving rank took part in, and has received its messages: from then on nothing that the leaving
 * rank sent can be lost. Thread-safe; nothing waits.
 */
public final class GracefulExits {
    private final ControlSender sender;
    private final AgreedFailure failure;
    private final LeaverComparison comparison;
    private final GroupSpec group;
    private final LongSupplier ended;
    private final MessageCounts messages = new MessageCounts();
    private final Map<Integer, Goodbye> left = new TreeMap<>();
    /** Ranks that have left and were not yet told that this rank has everything they sent. */
    private final BitSet unconfirmed = new BitSet();

    /** Ranks that have left after the failure of a parent. */
    private final BitSet consequences = new BitSet();

    private final BitSet endedLinks = new BitSet();
    private final BitSet lost = new BitSet();

    private volatile ParentFailure parents = ParentFailure.NONE;
    private volatile boolean any;
    private volatile boolean anyUnconfirmed;
    private volatile GracefulExit own;

    /** Compares the last call of a rank that has left with the call of this rank. */
    interface LeaverComparison {
        /** Returns whether they differ; if so, the group soon ends with MISMATCH. */
        boolean differs(int peer, Goodbye said);
    }

    /** Makes an empty set; {@code ended} supplies the number of the last collective that has ended on this rank. */
    GracefulExits(
            ControlSender sender,
            AgreedFailure failure,
            GroupSpec group,
            LongSupplier ended,
            LeaverComparison comparison) {
        this.sender = sender;
        this.failure = failure;
        this.comparison = comparison;
        this.group = group;
        this.ended = ended;
    }

    /** Sets the failure of the groups that this one was made of; a rank may have left before this rank has opened its end. */
    void madeOf(ParentFailure failures) {
        parents = failures;
        if (failures.cause() != null) {
            synchronized (this) {
                left.keySet().forEach(consequences::set);
            }
        }
    }

    /** Returns the failure of the groups that this one was made of. */
    ParentFailure parentFailure() {
        return parents;
    }

    /** Returns the counts of messages, which the code that moves messages updates. */
    public MessageCounts messages() {
        return messages;
    }

    /** Returns a rank that has left without calling a collective, or -1; costs one read while no rank has left. */
    int before(long sequence) {
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

    /** Returns the goodbye of a rank, or null while it has not left. */
    Goodbye of(int peer) {
        return any ? find(peer) : null;
    }

    /** Returns how many messages a rank that has left has sent to this one. */
    public long sentBy(int peer) {
        return of(peer).sent();
    }

    /** Returns how many messages of this rank were delivered on a rank that has left. */
    public long takenBy(int peer) {
        return of(peer).taken();
    }

    private synchronized Goodbye find(int peer) {
        return left.get(peer);
    }

    /**
     * Returns whether any rank has left; costs one read.
     *
     * @return false while no rank has left
     */
    public boolean any() {
        return any;
    }

    /**
     * Returns whether a rank has left; costs one read while no rank has.
     *
     * @param peer rank
     * @return whether its goodbye was heard
     */
    public boolean has(int peer) {
        return of(peer) != null;
    }

    /**
     * Returns whether all other ranks have left.
     *
     * @return false while one is there, or is gone without a goodbye
     */
    public synchronized boolean haveAllLeft() {
        return left.size() == group.worldSize() - 1;
    }

    /** Returns whether a rank that has left has made another last call than this rank there. */
    boolean differs(int peer) {
        return comparison.differs(peer, of(peer));
    }

    /**
     * Fails the group if a rank has left without making a collective, because it will never make it. Costs one read while
     * no rank has left.
     */
    public void refuse(long sequence, CallHeader.Call call) {
        int gone = before(sequence);
        if (gone >= 0) {
            fail(gone, "this call is seq " + sequence + " (" + call.text() + ")");
        }
    }

    /** Fails the group, since a call cannot succeed without a rank that has left. */
    public void fail(int peer, String call) {
        if (differs(peer)) {
            // the rank left after another call than this rank's: that mismatch is the cause
            return;
        }
        failure.failUnlessFailed(cause(peer, text(peer) + "; " + call + Advice.left(peer)));
    }

    /** Fails the group, since a call needs one of the other ranks, and all of them have left. */
    public void failForAll(String call) {
        Set<Integer> all;
        synchronized (this) {
            all = new TreeSet<>(left.keySet());
        }
        if (all.stream().anyMatch(this::differs)) {
            // a rank left after another call than this rank's: that mismatch is the cause
            return;
        }
        int first = all.iterator().next();
        failure.failUnlessFailed(cause(
                all, RankLists.ranks(all) + " left group \"" + group.name() + "\"; " + call + Advice.left(first)));
    }

    /**
     * Returns the failure of a call that cannot succeed without a rank that has left. If a parent had failed before, that
     * failure is the cause: a rank tells of a failure before it leaves.
     */
    Failure cause(int peer, String needs) {
        return cause(Set.of(peer), needs);
    }

    private Failure cause(Set<Integer> peers, String needs) {
        OptionalInt consequence;
        synchronized (this) {
            consequence = peers.stream()
                    .mapToInt(peer -> peer)
                    .filter(consequences::get)
                    .findFirst();
        }
        Failure ofParent = consequence.isPresent() ? parents.cause() : null;
        return ofParent == null
                ? new Failure(Code.PEER_LOST, group.rank(), -1, peers, needs, null)
                : new Failure(
                        ofParent.code(),
                        ofParent.origin(),
                        -1,
                        ofParent.culprits(),
                        text(consequence.getAsInt()) + " after a failure " + ofParent.text(),
                        null);
    }

    /** Returns a text that says when a rank left: rank 0 left group "world" after seq 17. */
    String text(int peer) {
        Goodbye said = of(peer);
        String after = said == null || said.lastSequence() == 0
                ? " before its first collective"
                : " after seq " + said.lastSequence();
        return "rank " + peer + " left group \"" + group.name() + "\"" + after;
    }

    /** Notes that the message link to a rank has ended: messages that have not arrived by now are lost. */
    void endOfMessages(int peer) {
        synchronized (this) {
            endedLinks.set(peer);
        }
    }

    /**
     * Returns whether a message of a rank that has left is lost. The caller asks after it has handled all messages that
     * have arrived.
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

    /** Handles the goodbye of a rank and answers it. */
    void left(int peer, Goodbye said) {
        boolean isConsequence = parents.cause() != null;
        synchronized (this) {
            if (left.putIfAbsent(peer, said) != null) {
                return;
            }
            consequences.set(peer, isConsequence);
            unconfirmed.set(peer);
            any = true;
            anyUnconfirmed = true;
        }
        if (!confirm(peer, said)) {
            sender.tell(peer, new Heard(ended.getAsLong(), messages.look(peer).arrived()));
        }
        GracefulExit leaving = own;
        if (leaving != null) {
            leaving.isOver(peer);
        }
    }

    /**
     * Tells ranks that have left once this rank has everything they sent. Called when an operation has ended; usually
     * costs one read.
     */
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
        sender.tell(peer, new Heard(now, arrived));
        return true;
    }

    /**
     * Tells all ranks that this one leaves.
     *
     * @param last   its last collective, or null
     * @param losers ranks that need this one until they have ended that collective
     * @param until  when the leave is over
     * @return the leave, over when all have answered
     */
    GracefulExit leave(CallHeader last, BitSet losers, GracefulExit.ExitLimit until) {
        boolean failed = until == GracefulExit.ExitLimit.ALL_HAVE_HEARD;
        long sequence = last == null ? 0 : last.sequence();
        GracefulExit leaving = new GracefulExit(
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
                sender.tell(peer, said);
                if (has(peer) || isLost(peer)) {
                    leaving.isOver(peer);
                }
            }
        }
        if (!failed && failure.isKnown()) {
            // the failure came before there was a leave that it could have ended
            leaving.end();
        }
        return leaving;
    }

    /** Handles the answer of a rank to the goodbye of this one. */
    void heard(int peer, Heard said) {
        GracefulExit leaving = own;
        if (leaving != null) {
            leaving.heard(peer, said.ended(), said.arrived());
        }
    }

    private synchronized boolean isLost(int peer) {
        return lost.get(peer);
    }

    /** Notes that a rank is gone: it needs nothing any more. */
    void lost(int peer) {
        synchronized (this) {
            lost.set(peer);
        }
        GracefulExit leaving = own;
        if (leaving != null) {
            leaving.isOver(peer);
        }
    }

    /** Notes that the group has failed: no rank needs anything from it any more. */
    void failed() {
        GracefulExit leaving = own;
        if (leaving != null && leaving.until() != GracefulExit.ExitLimit.ALL_HAVE_HEARD) {
            leaving.end();
        }
    }

    /** Compares the last calls of all ranks that have left with those of this rank. */
    void compare() {
        if (any) {
            Map<Integer, Goodbye> all;
            synchronized (this) {
                all = new TreeMap<>(left);
            }
            all.forEach(comparison::differs);
        }
    }
}
