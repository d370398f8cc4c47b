package ferro.collectives.engine;

import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.FerroException.Code;
import ferro.Message;
import ferro.MessageKind;
import ferro.collectives.engine.PendingWork.StopCondition;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureFactory;
import ferro.control.group.GracefulExits;
import ferro.control.group.GroupControl;
import ferro.control.group.MessageCounts;
import ferro.control.group.RankStatus;
import ferro.control.group.TimeoutProbe;
import ferro.control.membership.Hashing;
import ferro.recorder.CallCounter;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The sends and receives of a group. Messages are outside the order of collectives, and are matched by peer and tag.
 * All pending messages make progress at the same time. Any thread may submit a message. The thread with the progress
 * lock makes progress on all messages.
 */
final class PointToPointQueue {
    /** Maximum age of the stored status of this rank. */
    private static final long SNAPSHOT_NANOS = 20_000_000L;
    /** Time that a cancellation waits for the progress lock before it checks whether another thread has decided. */
    private static final long CANCEL_NANOS = 1_000_000L;

    private final ProgressLoop loop;
    private final GroupControl control;
    private final PeerMessageChannels channels;
    private final ConcurrentLinkedQueue<Transfer> submitted = new ConcurrentLinkedQueue<>();
    /** Buffer for the text of each message. The buffer is reused, so that a message allocates no more than its text. */
    private final StringBuilder text = new StringBuilder(64);

    private final AtomicInteger pendingCount = new AtomicInteger();
    private final List<Transfer> pending = new ArrayList<>();
    private final TimeoutProbe probe;
    private final TimeoutProbe warning;
    private long storedNanos;
    /** Whether the status was stored after the last progress. */
    private boolean isCurrent;

    private volatile StatusSnapshot snapshot;
    /** The transfer whose status is reported before any status has been stored. */
    private volatile Transfer newest;

    /** The stored status of this rank, which is valid until the transfer {@code of} has ended. */
    private record StatusSnapshot(RankStatus status, Transfer of) {}

    /** Creates an object without messages. Message headers carry {@code group}, the 64-bit identity of the group. */
    PointToPointQueue(ProgressLoop loop, GroupControl control, Transport transport, long group, long kept) {
        this.loop = loop;
        this.control = control;
        this.channels = new PeerMessageChannels(
                transport, CallHeader.of(group, 1, Hashing.of("point-to-point"), "point-to-point"), this, kept);
        this.probe = control.timeoutProbe();
        this.warning = control.timeoutProbe();
    }

    /** Switches to better links. The caller holds the progress lock, and no message is pending on any rank. */
    void reopen() {
        channels.reopen();
    }

    /** Returns whether nothing is pending. Thread-safe. */
    boolean isIdle() {
        return pendingCount.get() == 0;
    }

    /** Queues a message. The progress loop begins the message. */
    Transfer submit(Message message, CallOptions options) {
        Transfer taken = message.matched() == null ? null : Transfer.ofMatch(message.matched(), this);
        String what;
        synchronized (text) {
            text.setLength(0);
            what = Transfer.describe(message, taken, options, text).toString();
        }
        loop.refuseInside(what);
        Transfer transfer = new Transfer(this, new PendingWork(loop, what, -1, options.timeout()), message);
        if (taken != null) {
            transfer.receive(taken);
        }
        transfer.recorded();
        pendingCount.incrementAndGet();
        submitted.add(transfer);
        return transfer;
    }

    /**
     * Makes all progress that is possible without waiting. Returns whether anything moved. If {@code listens}, also
     * takes messages of ranks of the same host with which this rank has not exchanged messages yet.
     */
    boolean advance(boolean listens) {
        boolean moved = channels.openUnexpected(listens);
        for (Transfer next = submitted.poll(); next != null; next = submitted.poll()) {
            if (next.isStarted) {
                cancelNow(next);
            } else {
                next.isStarted = true;
                pending.add(next);
                next.work.runs();
                newest = next;
                start(next);
            }
            moved = true;
        }
        channels.startAnnounced();
        List<PeerMessageChannel> opened = channels.opened();
        for (int i = 0; i < opened.size() && control.failure() == null; i++) {
            moved |= opened.get(i).advance();
        }
        return moved;
    }

    /** Handles a go-ahead that a peer has repeated as a control message. Thread-safe. */
    void goAhead(int peer, long announcement) {
        channels.goAhead(peer, announcement);
    }

    /**
     * Cancels a receive that no message has matched. The receive is submitted again, and the thread that holds the
     * progress lock decides about the cancellation. Returns after the decision, which this thread may make itself.
     */
    void cancel(Transfer receive) {
        loop.refuseInside("cancel of " + receive.work.description());
        submitted.add(receive);
        while (!receive.isDecided && !receive.work.isDone()) {
            loop.exclusively(() -> loop.run(null, StopCondition.ONE_ITERATION, 0), loop.nanoTime() + CANCEL_NANOS);
        }
    }

    private void cancelNow(Transfer receive) {
        if (receive.canBeGivenUp() && pending.contains(receive)) {
            withdraw(receive);
            receive.work.endCancelled();
        }
        receive.isDecided = true;
    }

    /** Checks the deadlines, and stores the peers that this rank waits for. */
    void check(long nowNanos) {
        if (pending.isEmpty() || control.failure() != null) {
            return;
        }
        if (nowNanos - storedNanos >= SNAPSHOT_NANOS) {
            storedNanos = nowNanos;
            isCurrent = true;
            snapshot = snapshot();
        }
        // by index here and below, because a rank that waits allocates nothing
        for (int i = 0; i < pending.size(); i++) {
            if (!pending.get(i).isFromAny()) {
                control.exits().follow(pending.get(i).peer);
            }
        }
        for (int i = 0; i < pending.size() && control.exits().any(); i++) {
            refuseIfItsPeerLeft(pending.get(i));
        }
        for (int i = pending.size() - 1; i >= 0; i--) {
            Transfer transfer = pending.get(i);
            transfer.observe(control, nowNanos);
            PendingWork work = transfer.work;
            if (probe.mayJudge(null, null, work.begunNanos(), work.deadlineNanos(), nowNanos)) {
                giveUp(transfer, nowNanos);
                return;
            }
        }
        warnIfLate(nowNanos);
    }

    /**
     * Returns the time in nanoseconds until {@link #check} may have something to do. The caller has called
     * {@link #check} with the same time. {@code isQuiet} is true if nothing has moved since the last call.
     */
    long untilNext(long nowNanos, boolean isQuiet) {
        isCurrent &= isQuiet || storedNanos == nowNanos;
        long next = isCurrent || pending.isEmpty() ? Long.MAX_VALUE : storedNanos + SNAPSHOT_NANOS - nowNanos;
        for (int i = 0; i < pending.size(); i++) {
            next = Math.min(next, pending.get(i).untilNext(nowNanos));
        }
        probe.nextLookAt(nowNanos + next);
        warning.nextLookAt(nowNanos + next);
        return next;
    }

    /** Fails the group if a transfer can never be matched, because the peers of the transfer have left. */
    private void refuseIfItsPeerLeft(Transfer transfer) {
        GracefulExits exits = control.exits();
        if (transfer.isFromAny()) {
            refuseIfAllLeft(transfer);
            return;
        }
        if (!exits.has(transfer.peer)) {
            return;
        }
        long sent = exits.sentBy(transfer.peer);
        if (transfer.isSend) {
            if (!transfer.matched || transfer.number > exits.takenBy(transfer.peer)) {
                failForLeaver(transfer, transfer.peer, "it has not taken this message");
            }
        } else if (exits.hasLostMessages(transfer.peer)) {
            failForLeaver(transfer, transfer.peer, lost(transfer.peer));
        } else if (!transfer.matched && counts(transfer.peer).arrived() >= sent) {
            failForLeaver(
                    transfer,
                    transfer.peer,
                    "none of the messages that it sent to this rank is left for this call, messages sent: " + sent);
        }
    }

    /** Fails the group if no other rank can send any more, or if messages of a rank that has left are lost. */
    private void refuseIfAllLeft(Transfer receive) {
        GracefulExits exits = control.exits();
        exits.followLeavers();
        for (int peer = 0; peer < loop.group().worldSize(); peer++) {
            if (exits.hasLostMessages(peer)) {
                failForLeaver(receive, peer, lost(peer));
                return;
            }
        }
        if (peersOf(receive.peer).isEmpty()) {
            exits.failForAll("this is a " + receive.work.description()
                    + ", and none of the messages that they sent to this rank is left for it");
        }
    }

    private String lost(int peer) {
        return "their connection ended with " + counts(peer).arrived() + " of the "
                + control.exits().sentBy(peer) + " messages that it sent to this rank";
    }

    private void failForLeaver(Transfer transfer, int peer, String why) {
        control.exits().fail(peer, "this is a " + transfer.work.description() + ", and " + why);
    }

    /** Notifies the listeners once of each transfer that has waited for a quarter of its timeout. */
    private void warnIfLate(long nowNanos) {
        for (int i = 0; i < pending.size(); i++) {
            Transfer transfer = pending.get(i);
            long begun = transfer.work.begunNanos();
            long deadline = transfer.work.deadlineNanos();
            long warn = TimeoutProbe.warnNanos(begun, deadline);
            if (!TimeoutProbe.isWarnedOf(deadline - begun)) {
                transfer.isWarned = true;
            } else if (!transfer.isWarned && warning.mayJudge(null, null, begun, warn, nowNanos)) {
                warn(transfer, begun + (warn - begun) / 8, nowNanos);
                return;
            }
        }
    }

    /**
     * Notifies the listeners once of a late transfer and of similar transfers begun before {@code untilNanos}, because
     * many may be posted at once.
     */
    private void warn(Transfer first, long untilNanos, long nowNanos) {
        BitSet peers = new BitSet();
        int others = -1;
        for (Transfer transfer : pending) {
            boolean isLike = transfer.isFromAny() == first.isFromAny();
            if (isLike && !transfer.isWarned && transfer.work.begunNanos() - untilNanos <= 0) {
                transfer.isWarned = true;
                peers.or(peersOf(transfer.peer));
                others++;
            }
        }
        Diagnosis.Blame verdict = first.verdict(warning, control.machines(), peers, nowNanos);
        if (first.isFromAny() && verdict.culprits().isEmpty()) {
            // a receive from any rank is not late while a rank can send
            return;
        }
        String text = control.self() + " of \"" + loop.group().name() + "\" waits"
                + (verdict.isNoRankAlone() ? "" : " for " + blamed(verdict.culprits(), first)) + " after "
                + first.work.elapsed().toMillis() + " ms at " + first.work.description() + Transfer.more(others)
                + (first.isInFlight() ? ", whose message is in flight" : "")
                + (first.peer == loop.group().rank() ? "" : ": " + verdict.text());
        control.late(verdict, text);
    }

    private void giveUp(Transfer late, long nowNanos) {
        Diagnosis.Blame verdict = late.verdict(probe, control.machines(), peersOf(late.peer), nowNanos);
        // the answer to the last probe may have been a goodbye, and the leave is then the cause
        refuseIfItsPeerLeft(late);
        if (control.failure() != null) {
            return;
        }
        boolean isNamed = !verdict.isNoRankAlone()
                && !(late.isFromAny() && verdict.culprits().isEmpty());
        boolean isAlone = late.peer == loop.group().rank() || verdict.text().isEmpty();
        String text = "gave up" + (isNamed ? " on " + blamed(verdict.culprits(), late) : "") + " after "
                + late.work.elapsed().toMillis() + " ms"
                + (late.isInFlight() ? " while the message was in flight" : "")
                + (late.isSend && !late.matched && !verdict.isNoRankAlone() ? ", which posted no receive" : "")
                + (isAlone ? "" : ": " + verdict.text())
                + (late.isSend
                        ? channels.crossing(verdict) + channels.unread(late)
                        : channels.unreceived(late, control.machines()::named));
        end(late, verdict.timedOut(loop.group().rank(), -1, text));
    }

    /** Returns the ranks that a transfer waits for: the peer, or all ranks that may send to a receive from any rank. */
    private BitSet peersOf(int peer) {
        BitSet peers = new BitSet();
        if (peer != CollectiveBackend.ANY_SOURCE) {
            peers.set(peer);
            return peers;
        }
        for (int rank = 0; rank < loop.group().worldSize(); rank++) {
            peers.set(rank, rank != loop.group().rank() && maySend(rank));
        }
        return peers;
    }

    /** Returns whether a rank has not left, or has left but one of its messages has not arrived. */
    private boolean maySend(int peer) {
        GracefulExits exits = control.exits();
        return !exits.has(peer) || counts(peer).arrived() < exits.sentBy(peer);
    }

    /**
     * Returns the ranks to blame. Culprits that the peer itself waits for come first, because they help the operator
     * most.
     */
    private String blamed(BitSet culprits, Transfer late) {
        int self = loop.group().rank();
        BitSet others = (BitSet) culprits.clone();
        others.clear(self);
        if (others.isEmpty()) {
            return control.machines().named(culprits.isEmpty() ? late.peer : self);
        }
        if (late.isFromAny() || others.get(late.peer)) {
            return control.machines().named(others);
        }
        return control.machines().named(culprits) + ", at the end of the wait chain of "
                + control.machines().named(late.peer) + ",";
    }

    /** Returns the status of this rank. Thread-safe. */
    RankStatus status() {
        StatusSnapshot last = snapshot;
        Transfer begun = newest;
        if (last != null || begun == null) {
            return last == null ? RankStatus.IDLE : last.status;
        }
        int peer = begun.peer; // read once: a receive from any rank may be matched meanwhile
        return begun.status("", peer, peersOf(peer));
    }

    /** Removes an ended transfer from the stored status. */
    private void forget(Transfer ended) {
        StatusSnapshot last = snapshot;
        if (last != null && last.of == ended) {
            snapshot = null;
        }
        if (newest == ended) {
            newest = pending.isEmpty() ? null : pending.get(pending.size() - 1);
        }
    }

    /** Returns the current status. A receive from any rank holds up this rank only if no other transfer is pending. */
    private StatusSnapshot snapshot() {
        BitSet peers = new BitSet();
        Transfer first = null;
        for (Transfer transfer : pending) {
            if (!transfer.isFromAny()) {
                peers.set(transfer.peer);
                first = first == null ? transfer : first;
            }
        }
        Transfer shown = first == null ? pending.get(0) : first;
        BitSet waitedFor = first == null ? peersOf(shown.peer) : peers;
        return new StatusSnapshot(shown.status(Transfer.more(pending.size() - 1), shown.peer, waitedFor), shown);
    }

    /** Ends the message of an interrupted thread if the group need not fail. Returns whether the message has ended. */
    boolean interrupted(PendingWork work) {
        advance(false);
        for (Transfer transfer : pending) {
            if (transfer.work == work && transfer.canBeGivenUp()) {
                end(transfer, FailureFactory.interrupted(loop.group(), control.self(), work.description(), -1));
                return true;
            }
        }
        return work.isDone();
    }

    void settle(Failure failure) {
        for (Transfer next = submitted.poll(); next != null; next = submitted.poll()) {
            if (!next.isStarted) {
                next.isStarted = true;
                pending.add(next);
            }
        }
        for (Transfer transfer : pending) {
            transfer.work.fail(failure, transfer.position());
        }
        pendingCount.addAndGet(-pending.size());
        pending.clear();
        snapshot = null;
        newest = null;
    }

    /** Ends a message for its channel. The caller holds the progress lock, as the callers of the next three methods do. */
    void finish(Transfer transfer) {
        // after a failure, all transfers have already ended
        if (pending.remove(transfer)) {
            forget(transfer);
            pendingCount.decrementAndGet();
            if (transfer.kind.isMoving()) {
                transfer.work.counted(transfer.isSend ? CallCounter.SEND : CallCounter.RECEIVE, 1, transfer.bytes());
            }
            transfer.ended();
            transfer.work.succeed(-1, transfer.kind.isMoving() ? transfer.bytes() : 0);
        }
    }

    /** Fails the group because a message matched a receive of another type or length. */
    void mismatched(Transfer receive, DataType type, long bytes) {
        int rank = loop.group().rank();
        String text = receive.mismatch(control.machines()::named, rank, type, bytes);
        Set<Integer> both = new TreeSet<>(List.of(receive.peer, rank)); // one rank if it sends to itself
        control.fail(new Failure(Code.MISMATCH, rank, -1, both, text, null));
    }

    MessageCounts.PeerCounts counts(int peer) {
        return control.exits().messages().of(peer);
    }

    /** Fails the group because a peer has sent an invalid message. */
    void nonsense(int peer, String what) {
        String text = control.machines().named(peer) + " sent an invalid message: " + what;
        control.fail(new Failure(Code.PROTOCOL, loop.group().rank(), -1, Set.of(peer), text, null));
    }

    private void start(Transfer transfer) {
        if (transfer.kind == MessageKind.RECEIVE_MATCHED) {
            channels.receiveMatched(transfer);
        } else if (!transfer.isSend) {
            channels.receive(transfer);
        } else if (control.exits().has(transfer.peer)) {
            failForLeaver(transfer, transfer.peer, "it accepts no more messages");
        } else {
            channels.send(transfer);
        }
    }

    private void end(Transfer transfer, Failure why) {
        if (!transfer.canBeGivenUp()) {
            control.fail(why);
            return;
        }
        withdraw(transfer);
        transfer.work.fail(why, transfer.position());
    }

    /** Removes a receive that no message has matched. */
    private void withdraw(Transfer receive) {
        channels.giveUp(receive);
        pending.remove(receive);
        forget(receive);
        pendingCount.decrementAndGet();
    }
}
