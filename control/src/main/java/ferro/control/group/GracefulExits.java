package ferro.control.group;

import ferro.control.failure.Advice;
import ferro.control.failure.ControlMessage.Follow;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.Heard;
import ferro.control.failure.ControlMessage.Left;
import ferro.control.wire.RankLists;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import java.util.BitSet;

/**
 * The ranks that have left a group, and the leave of this rank.
 *
 * <p>A rank may leave as soon as its own calls have returned. Its goodbye carries the number of its last collective,
 * and how many messages it has sent to and taken from the receiver of the goodbye. These numbers alone decide whether a
 * call of another rank fails because of the rank that left. A call fails if it is a collective with a higher number, a
 * receive that none of the sent messages can match, or a send that was not taken.
 *
 * <p>A rank says goodbye to its neighbours, to the ranks that follow it, and to the ranks that may still need what it has
 * sent. All ranks hear only of the lowest leaver: the one with the lowest last collective, since a collective fails
 * because of that one. The goodbye names the next ranks on both sides of the leaver, which replace it as neighbours. A
 * rank follows a replacement: it asks for its goodbye. If the replacement has left too, it answers with its own goodbye, or
 * its medium reports that it has closed, and the rank after it is next.
 *
 * <p>A rank that receives a goodbye answers at once how far it is itself. It answers again when it has ended the
 * collectives that the leaving rank took part in, and has received its messages: from then on nothing that the leaving
 * rank sent can be lost. Thread-safe; nothing waits.
 */
public final class GracefulExits {
    /** The time in which a rank receives a question for its goodbye. */
    private static final long FOLLOW_NANOS = 250_000_000L;

    private final ControlSender sender;
    private final AgreedFailure failure;
    private final Timers timers;
    private final OwnCalls calls;
    private final GroupSpec group;
    private final MessageCounts messages = new MessageCounts();
    private final OverlayNeighbours neighbours;
    private final Leavers leavers;
    /** Ranks that have left and were not yet told that this rank has everything they sent. */
    private final BitSet unconfirmed = new BitSet();

    private final BitSet endedLinks = new BitSet();
    private final BitSet lost = new BitSet();
    /** Ranks to which this rank has said goodbye. */
    private final BitSet notified = new BitSet();

    private volatile boolean anyUnconfirmed;
    private volatile GracefulExit own;
    /** The last call of this rank, once it has left. */
    private Left ownLast;

    /** The collectives of this rank. */
    interface OwnCalls {
        /**
         * Compares the last call of a rank that has left with the call of this rank there. Returns whether they differ; if
         * so, the group soon ends with MISMATCH.
         */
        boolean differs(Left leaver);

        /** Notes that a rank has left, and has not said to this rank after which call. */
        void hasLeft(int peer);

        /** Returns the number of the last collective that has ended on this rank. */
        long ended();
    }

    GracefulExits(ControlSender sender, AgreedFailure failure, Timers timers, Leavers leavers, OwnCalls calls) {
        this.sender = sender;
        this.failure = failure;
        this.timers = timers;
        this.calls = calls;
        this.group = sender.group();
        this.neighbours = sender.neighbours();
        this.leavers = leavers;
    }

    /** Returns the ranks that have left. */
    Leavers leavers() {
        return leavers;
    }

    /** Returns the counts of messages, which the code that moves messages updates. */
    public MessageCounts messages() {
        return messages;
    }

    /** Returns the neighbours of this rank: a neighbour that leaves in good order says goodbye before it closes its end. */
    OverlayNeighbours neighbours() {
        return neighbours;
    }

    /**
     * Returns whether this rank knows that another rank has not left. It would have received the goodbye of a neighbour; and
     * all ranks hear of the lowest leaver, so no rank has left if there is none.
     */
    boolean isPresent(int peer) {
        return mayBePresent(peer) && (neighbours.saysGoodbye(peer) || !leavers.any());
    }

    /**
     * Returns whether another rank may not have left, as far as this rank knows. The leave of a neighbour is not over before
     * this rank has received its goodbye, whatever other ranks tell.
     */
    boolean mayBePresent(int peer) {
        return neighbours.isNeighbour(peer) ? !has(peer) : !leavers.has(peer);
    }

    /** Returns how many messages a rank that has left has sent to this one. */
    public long sentBy(int peer) {
        return leavers.of(peer).sent();
    }

    /** Returns how many messages of this rank were delivered on a rank that has left. */
    public long takenBy(int peer) {
        return leavers.of(peer).taken();
    }

    /** Returns whether any rank has left; costs one read. */
    public boolean any() {
        return leavers.any();
    }

    /**
     * Returns whether a rank has left; costs one read while no rank has. In a large group this rank hears of the leave of
     * its neighbours, and of the ranks that it {@link #follow follows}.
     *
     * @param peer rank
     * @return whether its goodbye was heard
     */
    public boolean has(int peer) {
        return leavers.of(peer) != null;
    }

    /** Returns whether all other ranks have left; false while one is there, or is gone without a goodbye. */
    public boolean haveAllLeft() {
        return leavers.areAll();
    }

    /** Returns whether a rank that has left has made another last call than this rank there. */
    boolean differs(int peer) {
        return differs(leavers.leaver(peer));
    }

    /** Returns whether a rank that has left has made another last call than this rank there. */
    boolean differs(Left leaver) {
        return calls.differs(leaver);
    }

    /**
     * Fails the group if a rank has left without making a collective, because it will never make it. If others may be
     * leaving too, waits a little for their goodbyes, so that all are named. Costs one read while no rank has left.
     */
    public void refuse(long sequence, CallHeader.Call call) {
        if (leavers.before(sequence) < 0) {
            return;
        }
        long nanos = leavers.remainingNanos();
        if (nanos <= 0) {
            refuseNow(sequence, call);
        } else if (leavers.isFirstRefused()) {
            timers.later(() -> refuseNow(sequence, call), nanos);
        }
    }

    /** Fails the group if a rank has left without making a collective. Waits for no goodbyes of others. */
    public void refuseNow(long sequence, CallHeader.Call call) {
        if (leavers.before(sequence) >= 0) {
            fail(leavers.allBefore(sequence), "this call is seq " + sequence + " (" + call.text() + ")");
        }
    }

    /** Fails the group, since a call cannot succeed without a rank that has left. */
    public void fail(int peer, String call) {
        fail(alone(peer), call);
    }

    /** Fails the group, since a call needs one of the other ranks, and all of them have left. */
    public void failForAll(String call) {
        fail(leavers.ranks(), call);
    }

    private void fail(BitSet peers, String call) {
        if (peers.stream().anyMatch(this::differs)) {
            // a rank left after another call than this rank's: that mismatch is the cause
            return;
        }
        String needs = leavers.text(peers) + "; " + call + Advice.left(peers);
        failure.failUnlessFailed(leavers.cause(RankLists.numbers(peers), needs));
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
        Goodbye said = leavers.of(peer);
        synchronized (this) {
            return said != null && endedLinks.get(peer) && messages.look(peer).arrived() < said.sent();
        }
    }

    /** Handles the goodbye of a rank and answers it. */
    void left(int peer, Goodbye said) {
        GracefulExit leaving;
        synchronized (this) {
            if (!leavers.add(peer, said)) {
                return;
            }
            leaving = own;
            unconfirmed.set(peer, leaving == null);
            anyUnconfirmed = !unconfirmed.isEmpty();
        }
        if (leaving != null) {
            // the goodbye of this rank says that this rank needs nothing
            answer(peer);
        } else if (!confirm(peer, said)) {
            sender.tell(peer, new Heard(calls.ended(), messages.look(peer).arrived()));
        }
        lower(said.of(peer));
        BitSet gone = neighbours.between(said.previous(), peer, said.next());
        leavers.addEarlier(gone);
        greetAll(neighbours.left(gone));
        if (leaving != null) {
            leaving.isOver(peer);
        }
    }

    /** Asks the ranks that replace neighbours for their goodbyes, and tells them what all ranks have to know. */
    private void greetAll(BitSet added) {
        if (own == null) {
            added.stream().forEach(this::greet);
        }
    }

    private void greet(int peer) {
        if (failure.sendToNew(peer)) {
            return;
        }
        sender.tell(peer, new Follow());
        timers.later(() -> neighbours.reached(peer), FOLLOW_NANOS);
        leavers.sendToNew(peer);
    }

    /**
     * Asks a rank once to say goodbye to this rank when it leaves, because this rank waits for a message of it. A neighbour
     * does so without being asked.
     */
    public void follow(int peer) {
        if (peer != group.rank() && neighbours.follow(peer) && own == null) {
            greet(peer);
        }
    }

    /**
     * Asks the ranks that have left for their goodbyes to this rank, because it waits for a message of any rank. This rank
     * hears of each leave in time, since the ranks that replace its neighbours leave too.
     */
    public void followLeavers() {
        leavers.withoutGoodbye().stream().forEach(this::follow);
    }

    /** Notes a rank that receives the goodbye of this rank: at once if this rank has left. */
    void followedBy(int peer) {
        synchronized (this) {
            if (own == null) {
                neighbours.followedBy(peer);
                return;
            }
        }
        answer(peer);
    }

    /** Says goodbye to a rank if this one has left and has not done so before. */
    void answer(int peer) {
        synchronized (this) {
            if (own == null || notified.get(peer)) {
                return;
            }
            notified.set(peer);
        }
        sayGoodbye(peer);
    }

    /**
     * Takes a leaver that this rank hears of if it is lower than the lowest one that it knows, and tells the neighbours.
     * Returns whether it is lower.
     */
    boolean lower(Left leaver) {
        boolean isLower = leavers.lower(leaver);
        // a leaver that is lower than this one may have sent its goodbye only to ranks that leave
        boolean isForwarded = own == null || leaver.lastSequence() < ownLast.lastSequence();
        if (isLower && isForwarded && !failure.isKnown() && !neighbours.areAll()) {
            leavers.forward();
        }
        return isLower;
    }

    /** Notes that a rank has closed its end: it had left, and had exchanged no message with this rank. */
    void closed(int peer) {
        if (leavers.add(peer, Goodbye.unsaid(peer))) {
            calls.hasLeft(peer);
        }
        lost(peer);
        greetAll(neighbours.left(alone(peer)));
    }

    /** Tells ranks that left once this rank has all they sent. Called when an operation has ended; usually one read. */
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
        those.stream().forEach(peer -> confirm(peer, leavers.of(peer)));
    }

    private boolean confirm(int peer, Goodbye said) {
        long now = calls.ended();
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
     * Says goodbye to the ranks that need to know that this one leaves.
     *
     * @param last   its last collective, or null
     * @param losers ranks that need this one until they have ended that collective
     * @param until  when the leave is over
     * @return the leave, over when they have answered
     */
    GracefulExit leave(CallHeader last, BitSet losers, GracefulExit.ExitLimit until) {
        boolean failed = until == GracefulExit.ExitLimit.ALL_HAVE_HEARD;
        long sequence = last == null ? 0 : last.sequence();
        GracefulExit leaving = new GracefulExit(
                peer -> losers.get(peer) && !failed ? sequence : 0,
                peer -> failed ? 0 : messages.look(peer).sent(),
                until);
        BitSet all = new BitSet();
        all.set(0, group.worldSize());
        all.clear(group.rank());
        boolean needsAll = until == GracefulExit.ExitLimit.ALL_HAVE_LEFT;
        BitSet receivers;
        BitSet expected;
        synchronized (this) {
            receivers = receiversOf(losers);
            expected = needsAll ? all : receivers;
            expected.stream().forEach(leaving::expect);
            ownLast = new Left(
                    group.rank(), sequence, last == null ? 0 : last.fingerprint(), last == null ? "" : last.text());
            notified.or(receivers);
            own = leaving;
        }
        receivers.stream().forEach(this::sayGoodbye);
        if (needsAll && !neighbours.areAll()) {
            sender.send(all, new Follow());
        }
        expected.stream().filter(peer -> has(peer) || isLost(peer)).forEach(leaving::isOver);
        if (!failed && failure.isKnown()) {
            // the failure came before there was a leave that it could have ended
            leaving.end();
        }
        return leaving;
    }

    /** Returns the ranks that need the goodbye of this rank. */
    private BitSet receiversOf(BitSet losers) {
        BitSet receivers = messages.peers();
        receivers.or(losers);
        receivers.andNot(leavers.ranks());
        receivers.or(unconfirmed);
        receivers.or(neighbours.goodbyeReceivers());
        receivers.clear(group.rank());
        return receivers;
    }

    private void sayGoodbye(int peer) {
        leavers.parentFailure().send(peer);
        MessageCounts.OfPeer counts = messages.look(peer);
        Left last = ownLast;
        Goodbye said = new Goodbye(
                last.lastSequence(),
                counts.sent(),
                counts.taken(),
                last.fingerprint(),
                last.call(),
                neighbours.previous(),
                neighbours.next());
        sender.tell(peer, said);
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

    /** Notes that a rank is silent or gone: the leave of this rank does not wait for it. */
    void lost(int peer) {
        synchronized (this) {
            lost.set(peer);
        }
        GracefulExit leaving = own;
        if (leaving != null) {
            leaving.isOver(peer);
        }
    }

    /** Notes that a rank is gone, and that other ranks replace it as a neighbour. */
    void gone(int peer) {
        lost(peer);
        greetAll(neighbours.gone(alone(peer)));
    }

    private static BitSet alone(int peer) {
        BitSet ranks = new BitSet();
        ranks.set(peer);
        return ranks;
    }

    /** Notes that the group has failed: no rank needs anything from it any more. */
    void failed() {
        GracefulExit leaving = own;
        if (leaving != null && leaving.until() != GracefulExit.ExitLimit.ALL_HAVE_HEARD) {
            leaving.end();
        }
        if (!neighbours.areAll()) {
            BitSet waiting;
            synchronized (this) {
                waiting = (BitSet) unconfirmed.clone();
            }
            // they have left, so they are no neighbours any more
            waiting.stream().forEach(failure::tell);
        }
    }

    /** Compares the last calls of all ranks that have left with those of this rank. */
    void compare() {
        if (leavers.any()) {
            leavers.all().forEach(calls::differs);
        }
    }
}
