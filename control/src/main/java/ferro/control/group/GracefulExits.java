package ferro.control.group;

import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.GoodbyeAck;
import ferro.control.failure.ControlMessage.GoodbyeRequest;
import ferro.control.failure.ControlMessage.LeaveReport;
import ferro.control.failure.FailureHints;
import ferro.control.wire.RankSetFormat;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import java.util.BitSet;

/**
 * The leaves of a group: the leaves of other ranks and the leave of this rank.
 *
 * <p>A rank may leave as soon as its own calls have returned. The goodbye of a rank contains the number of its last
 * collective. The goodbye also contains the numbers of messages that the rank has sent to, and taken from, the receiver
 * of the goodbye. Only the numbers in a goodbye decide whether a call of another rank fails because of the leave. A
 * leave fails a collective with a higher number than the last collective of the leaving rank. A leave also fails a
 * receive that no sent message can match, and a send whose message was not taken.
 *
 * <p>A rank sends its goodbye to its neighbours, to the ranks that have asked for it, and to the ranks that may still
 * need its data. Only the earliest leave, which has the lowest last collective, reaches all ranks. The earliest leave
 * decides which collectives fail. A goodbye names the next ranks on both sides of the leaving rank. The two next ranks
 * replace the leaving rank as neighbours. A rank asks each replacement for its goodbye. If a replacement has left too,
 * the replacement answers with its goodbye, or its medium reports that it has closed. In both cases, this rank then
 * asks the next replacement.
 *
 * <p>A rank that receives a goodbye answers at once with its own progress. The receiver answers again when it has ended
 * the collectives in which the leaving rank took part, and has received the messages of the leaving rank. After the
 * second answer, no data of the leaving rank for this receiver can be lost. Thread-safe; no method waits.
 */
public final class GracefulExits {
    /** The time that a request for a goodbye needs to reach its receiver. */
    private static final long FOLLOW_NANOS = 250_000_000L;

    private final ControlSender sender;
    private final AgreedFailure failure;
    private final Timers timers;
    private final OwnCollectives calls;
    private final GroupSpec group;
    private final MessageCounts messages = new MessageCounts();
    private final OverlayNeighbours neighbours;
    private final Leavers leavers;
    /** Ranks that have left and that wait until this rank confirms that all their data has arrived. */
    private final BitSet unconfirmed = new BitSet();

    private final BitSet endedLinks = new BitSet();
    private final BitSet lost = new BitSet();
    /** Ranks to which this rank has sent a goodbye. */
    private final BitSet notified = new BitSet();

    private volatile boolean anyUnconfirmed;
    private volatile GracefulExit own;
    /** The leave of this rank with its last call, or null as long as this rank has not left. */
    private LeaveReport ownLast;

    /** The collectives of this rank. */
    interface OwnCollectives {
        /**
         * Compares the last call of a rank that has left with the call of this rank that has the same number. Returns
         * whether the two calls differ. If the calls differ, the group soon ends with MISMATCH.
         */
        boolean differs(LeaveReport leaver);

        /** Records that a rank has left without sending its last call to this rank. */
        void hasLeft(int peer);

        /** Returns the number of the last collective that has ended on this rank. */
        long ended();
    }

    GracefulExits(ControlSender sender, AgreedFailure failure, Timers timers, Leavers leavers, OwnCollectives calls) {
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

    /** Returns the neighbours of this rank. A neighbour sends a goodbye before it closes the group normally. */
    OverlayNeighbours neighbours() {
        return neighbours;
    }

    /**
     * Returns whether it is certain that another rank has not left. A neighbour, or a rank that was asked for its
     * goodbye, sends a goodbye when it leaves. Any other rank has not left if no leave has reached this rank, because
     * the earliest leave reaches all ranks.
     */
    boolean isPresent(int peer) {
        return mayBePresent(peer) && (neighbours.saysGoodbye(peer) || !leavers.any());
    }

    /**
     * Returns whether another rank is possibly still in the group, according to this rank. A neighbour is possibly in
     * the group until this rank has received the goodbye of the neighbour, whatever other ranks have sent.
     */
    boolean mayBePresent(int peer) {
        return neighbours.isNeighbour(peer) ? !has(peer) : !leavers.has(peer);
    }

    /** Returns the number of messages that a rank that has left has sent to this rank. */
    public long sentBy(int peer) {
        return leavers.of(peer).sent();
    }

    /** Returns how many messages of this rank were delivered to receives of {@code peer}, which has left. */
    public long takenBy(int peer) {
        return leavers.of(peer).taken();
    }

    /** Returns whether any rank has left. This method costs one read. */
    public boolean any() {
        return leavers.any();
    }

    /**
     * Returns whether a rank has left. This method costs one read as long as no rank has left. In a large group the
     * result includes only the leaves of neighbours and of the ranks that this rank {@link #follow asks}.
     *
     * @param peer rank that may have left
     * @return whether the goodbye of the rank has arrived
     */
    public boolean has(int peer) {
        return leavers.of(peer) != null;
    }

    /** Returns whether all other ranks have left. A rank that is gone without a goodbye has not left. */
    public boolean haveAllLeft() {
        return leavers.areAll();
    }

    /** Returns whether the last call of a rank that has left differs from this rank's call with the same number. */
    boolean differs(int peer) {
        return differs(leavers.leaver(peer));
    }

    /** Returns whether the last call of a rank that has left differs from this rank's call with the same number. */
    boolean differs(LeaveReport leaver) {
        return calls.differs(leaver);
    }

    /**
     * Fails the group if a rank has left without making the given collective, because that rank will never make the
     * call. If other ranks may be leaving too, the failure waits a little for their goodbyes, so that the failure names
     * all leaving ranks. This method costs one read as long as no rank has left.
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

    /** Fails the group if a rank has left without making the given collective. Does not wait for further goodbyes. */
    public void refuseNow(long sequence, CallHeader.Call call) {
        if (leavers.before(sequence) >= 0) {
            fail(leavers.allBefore(sequence), "this call is seq " + sequence + " (" + call.text() + ")");
        }
    }

    /** Fails the group because a call cannot succeed without a rank that has left. */
    public void fail(int peer, String call) {
        fail(alone(peer), call);
    }

    /** Fails the group because a call needs at least one other rank, and all other ranks have left. */
    public void failForAll(String call) {
        fail(leavers.ranks(), call);
    }

    private void fail(BitSet peers, String call) {
        if (peers.stream().anyMatch(this::differs)) {
            // the last call of a rank that left differs from the call of this rank, and this mismatch is the cause
            return;
        }
        String needs = leavers.text(peers) + "; " + call + FailureHints.left(peers);
        failure.failUnlessFailed(leavers.cause(RankSetFormat.numbers(peers), needs));
    }

    /** Records that the message link to a rank has ended. Messages that have not arrived by now are lost. */
    void endOfMessages(int peer) {
        synchronized (this) {
            endedLinks.set(peer);
        }
    }

    /**
     * Returns whether a message of a rank that has left is lost. The caller must first handle all messages that have
     * arrived.
     *
     * @param peer rank that has left
     * @return whether the link to that rank has ended and fewer messages have arrived than the rank has sent
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
            // the goodbye of this rank shows that this rank needs nothing more
            answer(peer);
        } else if (!confirm(peer, said)) {
            sender.tell(peer, new GoodbyeAck(calls.ended(), messages.look(peer).arrived()));
        }
        lower(said.of(peer));
        BitSet gone = neighbours.between(said.previous(), peer, said.next());
        leavers.addEarlier(gone);
        greetAll(neighbours.left(gone));
        if (leaving != null) {
            leaving.isOver(peer);
        }
    }

    /** Asks ranks that replace neighbours for their goodbyes, and sends them the failure or the earliest leave. */
    private void greetAll(BitSet added) {
        if (own == null) {
            added.stream().forEach(this::greet);
        }
    }

    private void greet(int peer) {
        if (failure.sendToNew(peer)) {
            return;
        }
        sender.tell(peer, new GoodbyeRequest());
        timers.later(() -> neighbours.reached(peer), FOLLOW_NANOS);
        leavers.sendToNew(peer);
    }

    /**
     * Asks a rank once to send a goodbye when it leaves, because this rank waits for a message from that rank. A
     * neighbour sends its goodbye without a request.
     */
    public void follow(int peer) {
        if (peer != group.rank() && neighbours.follow(peer) && own == null) {
            greet(peer);
        }
    }

    /**
     * Asks the ranks that have left for their goodbyes, because this rank waits for a message from any rank. This rank
     * learns of each leave in time, because each rank that replaces a neighbour of this rank also leaves.
     */
    public void followLeavers() {
        leavers.withoutGoodbye().stream().forEach(this::follow);
    }

    /** Records a rank that has asked for this rank's goodbye, or sends the goodbye if this rank has left. */
    void followedBy(int peer) {
        synchronized (this) {
            if (own == null) {
                neighbours.followedBy(peer);
                return;
            }
        }
        answer(peer);
    }

    /** Sends a goodbye to a rank if this rank has left and has not sent a goodbye to that rank before. */
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
     * Records a leave that arrived from another rank. Forwards the leave to the neighbours if no earlier leave has
     * arrived. Returns whether the leave is the earliest so far.
     */
    boolean lower(LeaveReport leaver) {
        boolean isLower = leavers.lower(leaver);
        // a rank with a lower last collective than this rank may have sent its goodbye only to ranks that leave
        boolean isForwarded = own == null || leaver.lastSequence() < ownLast.lastSequence();
        if (isLower && isForwarded && !failure.isKnown() && !neighbours.areAll()) {
            leavers.forward();
        }
        return isLower;
    }

    /** Records that a rank has closed the group. The rank had left, and had exchanged no message with this rank. */
    void closed(int peer) {
        if (leavers.add(peer, Goodbye.unsaid(peer))) {
            calls.hasLeft(peer);
        }
        lost(peer);
        greetAll(neighbours.left(alone(peer)));
    }

    /**
     * Sends a confirmation to each rank that has left, once this rank has received all data of that rank. Called when
     * an operation has ended. This method usually costs one read.
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
        sender.tell(peer, new GoodbyeAck(now, arrived));
        return true;
    }

    /**
     * Sends a goodbye to each rank that needs the goodbye of this rank.
     *
     * @param last   last collective of this rank, or null
     * @param losers ranks that need this rank until they have ended collective {@code last}
     * @param until  condition for the end of the leave
     * @return the leave, which is over when condition {@code until} holds
     */
    GracefulExit leave(CallHeader last, BitSet losers, GracefulExit.ExitCondition until) {
        boolean failed = until == GracefulExit.ExitCondition.ALL_HAVE_HEARD;
        long sequence = last == null ? 0 : last.sequence();
        GracefulExit leaving = new GracefulExit(
                peer -> losers.get(peer) && !failed ? sequence : 0,
                peer -> failed ? 0 : messages.look(peer).sent(),
                until);
        BitSet all = new BitSet();
        all.set(0, group.worldSize());
        all.clear(group.rank());
        boolean needsAll = until == GracefulExit.ExitCondition.ALL_HAVE_LEFT;
        BitSet receivers;
        BitSet expected;
        synchronized (this) {
            receivers = receiversOf(losers);
            expected = needsAll ? all : receivers;
            expected.stream().forEach(leaving::expect);
            ownLast = new LeaveReport(
                    group.rank(), sequence, last == null ? 0 : last.fingerprint(), last == null ? "" : last.text());
            notified.or(receivers);
            own = leaving;
        }
        receivers.stream().forEach(this::sayGoodbye);
        if (needsAll && !neighbours.areAll()) {
            sender.send(all, new GoodbyeRequest());
        }
        expected.stream().filter(peer -> has(peer) || isLost(peer)).forEach(leaving::isOver);
        if (!failed && failure.isKnown()) {
            // the group failed before this leave began, so the failure could not end the leave
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
        MessageCounts.PeerCounts counts = messages.look(peer);
        LeaveReport last = ownLast;
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

    /** Handles the answer of a rank to the goodbye of this rank. */
    void heard(int peer, GoodbyeAck said) {
        GracefulExit leaving = own;
        if (leaving != null) {
            leaving.heard(peer, said.ended(), said.arrived());
        }
    }

    private synchronized boolean isLost(int peer) {
        return lost.get(peer);
    }

    /** Records that a rank is silent or gone. The leave of this rank does not wait for that rank. */
    void lost(int peer) {
        synchronized (this) {
            lost.set(peer);
        }
        GracefulExit leaving = own;
        if (leaving != null) {
            leaving.isOver(peer);
        }
    }

    /** Records that a rank is gone, and that other ranks replace the gone rank as a neighbour. */
    void gone(int peer) {
        lost(peer);
        greetAll(neighbours.gone(alone(peer)));
    }

    private static BitSet alone(int peer) {
        BitSet ranks = new BitSet();
        ranks.set(peer);
        return ranks;
    }

    /** Records that the group has failed, so that no rank needs this rank any more. */
    void failed() {
        GracefulExit leaving = own;
        if (leaving != null && leaving.until() != GracefulExit.ExitCondition.ALL_HAVE_HEARD) {
            leaving.end();
        }
        if (!neighbours.areAll()) {
            BitSet waiting;
            synchronized (this) {
                waiting = (BitSet) unconfirmed.clone();
            }
            // these ranks have left, so they are not neighbours any more
            waiting.stream().forEach(failure::tell);
        }
    }

    /** Compares the last calls of all ranks that have left with the calls of this rank. */
    void compare() {
        if (leavers.any()) {
            leavers.all().forEach(calls::differs);
        }
    }
}
