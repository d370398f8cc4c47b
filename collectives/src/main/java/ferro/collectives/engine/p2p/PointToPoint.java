package ferro.collectives.engine.p2p;

import ferro.CallOptions;
import ferro.DataType;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.collectives.engine.progress.Lanes;
import ferro.collectives.engine.progress.MessageProgress;
import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.ProgressLoop;
import ferro.collectives.shared.IntraNodeTransport;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.failure.Failures;
import ferro.control.group.GracefulExits;
import ferro.control.group.GroupControl;
import ferro.control.group.MessageCounts;
import ferro.control.group.RankStatus;
import ferro.control.group.TimeoutProbe;
import ferro.control.membership.Hashing;
import ferro.control.wire.RankLists;
import ferro.recorder.CallCounter;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends and receives of a group: outside the order of collectives, matched by peer and tag, with progress on all pending
 * ones at the same time. Submitted by any thread; the thread with the progress lock makes progress on them.
 */
public final class PointToPoint implements MessageProgress, PeerLane.LaneOwner {
    /** Largest age of the stored status of this rank. */
    private static final long SNAPSHOT_NANOS = 20_000_000L;

    private final ProgressLoop loop;
    private final GroupControl control;
    private final Lanes lanes;
    /** Null where no rank shares memory with this one. */
    private final IntraNodeTransport intraNode;

    private final CallHeader header;
    private final ConcurrentLinkedQueue<Transfer> submitted = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pendingCount = new AtomicInteger();
    private final List<Transfer> pending = new ArrayList<>();
    private final Map<Integer, PeerLane> peers = new TreeMap<>();
    private final List<PeerLane> peerList = new ArrayList<>();
    private final OwnMessages own = new OwnMessages(this);
    private final TimeoutProbe probe;
    private final TimeoutProbe warning;
    private long nextSnapshotNanos;
    private volatile Snapshot snapshot;
    /** Reported if no status was stored yet. */
    private volatile Transfer newest;

    /** The stored status of this rank, valid as long as the first of its transfers has not ended. */
    private record Snapshot(RankStatus status, Transfer of) {}

    /** Makes one without messages; {@code group} is the 64-bit identity that headers carry. */
    public PointToPoint(ProgressLoop loop, GroupControl control, Transport transport, long group) {
        this.loop = loop;
        this.control = control;
        this.lanes = new Lanes(transport, Lane.POINT_TO_POINT);
        this.intraNode = transport instanceof IntraNodeTransport shares ? shares : null;
        this.probe = control.timeoutProbe();
        this.warning = control.timeoutProbe();
        this.header = CallHeader.of(group, 1, Hashing.of("point-to-point"), "point-to-point");
    }

    /**
     * Uses better links from now on, if there are any; called with the progress lock held, while nothing is pending on any
     * rank.
     */
    public void reopen() {
        BitSet changed = lanes.reopen();
        for (int peer = changed.nextSetBit(0); peer >= 0; peer = changed.nextSetBit(peer + 1)) {
            peerList.remove(peers.remove(peer));
        }
    }

    @Override
    public boolean isIdle() {
        return pendingCount.get() == 0;
    }

    /** Queues a message; the progress loop begins it. */
    public Transfer submit(HostTensor tensor, int peer, int tag, Transfer.Kind kind, CallOptions options) {
        Objects.requireNonNull(tensor, "tensor");
        String what =
                options.named(kind.label()) + (kind.isSend() ? " to rank " : " from rank ") + peer + " tag " + tag;
        loop.refuseInside(what);
        Transfer transfer = new Transfer(new PendingWork(loop, what, -1, options.timeout()), tensor, peer, tag, kind);
        transfer.work.recordedMessage(what, tensor.byteCount(), peer);
        if (!transfer.isSend) {
            transfer.work.receives(transfer);
        }
        pendingCount.incrementAndGet();
        submitted.add(transfer);
        return transfer;
    }

    /**
     * Does what can be done now; returns whether anything moved.
     *
     * @param listens whether messages of ranks of the same host are taken too that came before this rank has sent to or
     *     received from them
     */
    @Override
    public boolean advance(boolean listens) {
        boolean moved = listens && intraNode != null && openUnexpected();
        for (Transfer next = submitted.poll(); next != null; next = submitted.poll()) {
            pending.add(next);
            next.work.runs();
            newest = next;
            start(next);
            moved = true;
        }
        for (int i = 0; i < peerList.size() && control.failure() == null; i++) {
            moved |= peerList.get(i).advance();
        }
        return moved;
    }

    /**
     * Opens lanes to ranks of the same host that send before this rank has sent or received; returns whether there was one.
     */
    private boolean openUnexpected() {
        boolean opened = false;
        for (int peer = 0; peer < intraNode.worldSize(); peer++) {
            if (intraNode.hasUnexpected(peer, Lane.POINT_TO_POINT) && !peers.containsKey(peer)) {
                laneTo(peer);
                opened = true;
            }
        }
        return opened;
    }

    /** Checks the deadlines, and stores which peers are waited for. */
    @Override
    public void check(long nowNanos) {
        if (pending.isEmpty() || control.failure() != null) {
            return;
        }
        if (nowNanos - nextSnapshotNanos >= 0) {
            nextSnapshotNanos = nowNanos + SNAPSHOT_NANOS;
            snapshot = snapshot();
        }
        if (control.exits().any()) {
            for (Transfer transfer : pending) {
                refuseIfItsPeerLeft(transfer);
            }
        }
        for (int i = pending.size() - 1; i >= 0; i--) {
            Transfer transfer = pending.get(i);
            long begun = transfer.work.begunNanos();
            long deadline = transfer.work.deadlineNanos();
            if (probe.mayJudge(null, null, deadline, TimeoutProbe.leadNanos(deadline - begun), nowNanos)) {
                giveUp(transfer);
                return;
            }
        }
        warnIfLate(nowNanos);
    }

    /** Fails the group if a peer has left so that a transfer can never be matched any more. */
    private void refuseIfItsPeerLeft(Transfer transfer) {
        GracefulExits exits = control.exits();
        if (!exits.has(transfer.peer)) {
            return;
        }
        long sent = exits.sentBy(transfer.peer);
        if (transfer.isSend) {
            if (!transfer.matched || transfer.number > exits.takenBy(transfer.peer)) {
                failForLeaver(transfer, "it has not taken this message");
            }
        } else if (exits.hasLostMessages(transfer.peer)) {
            failForLeaver(
                    transfer,
                    "their connection ended with " + counts(transfer.peer).arrived() + " of the " + sent
                            + " messages that it sent to this rank");
        } else if (!transfer.matched && counts(transfer.peer).arrived() >= sent) {
            failForLeaver(
                    transfer,
                    "none of the messages that it sent to this rank is left for this call, messages " + "sent: "
                            + sent);
        }
    }

    private void failForLeaver(Transfer transfer, String why) {
        control.exits().fail(transfer.peer, "this is a " + transfer.work.description() + ", and " + why);
    }

    /** Tells the listeners once of transfers that have waited for a quarter of their timeouts. */
    private void warnIfLate(long nowNanos) {
        for (Transfer transfer : pending) {
            if (transfer.isWarned) {
                continue;
            }
            long begun = transfer.work.begunNanos();
            long part = (transfer.work.deadlineNanos() - begun) / 4;
            if (!TimeoutProbe.isWarnedOf(4 * part)) {
                transfer.isWarned = true;
            } else if (warning.mayJudge(null, null, begun + part, TimeoutProbe.leadNanos(part), nowNanos)) {
                warn(transfer, begun + part / 8);
                return;
            }
        }
    }

    /** Tells the listeners of a late transfer, and of those begun before a time: many may be posted one after another. */
    private void warn(Transfer first, long untilNanos) {
        BitSet peers = new BitSet();
        int others = -1;
        for (Transfer transfer : pending) {
            if (!transfer.isWarned && transfer.work.begunNanos() - untilNanos <= 0) {
                transfer.isWarned = true;
                peers.set(transfer.peer);
                others++;
            }
        }
        Diagnosis.Blame verdict = verdict(warning, first, peers);
        String text = "rank " + loop.group().rank() + " of \"" + loop.group().name() + "\" waits"
                + (verdict.isCycle() ? "" : " for " + blamed(verdict.culprits(), first)) + " after "
                + first.work.elapsed().toMillis() + " ms at " + first.work.description() + more(others)
                + (first.matched ? ", whose message is in flight" : "")
                + (first.peer == loop.group().rank() ? "" : ": " + verdict.text());
        control.event(GroupEvent.Kind.LATE, verdict.culprits().stream().boxed().toList(), text);
    }

    private static Diagnosis.Blame verdict(TimeoutProbe asked, Transfer late, BitSet peers) {
        String ownCall =
                late.matched ? "" : status(late, "", RankLists.numbers(peers)).sentence();
        return asked.waiting(late.work.begunNanos(), peers, ownCall);
    }

    private void giveUp(Transfer late) {
        BitSet peer = new BitSet();
        peer.set(late.peer);
        Diagnosis.Blame verdict = verdict(probe, late, peer);
        String text = "gave up" + (verdict.isCycle() ? "" : " on " + blamed(verdict.culprits(), late)) + " after "
                + late.work.elapsed().toMillis() + " ms"
                + (late.matched ? " while the message was in flight" : "")
                + (late.isSend && !late.matched && !verdict.isCycle() ? ", which posted no receive" : "")
                + (late.peer == loop.group().rank() ? "" : ": " + verdict.text());
        end(
                late,
                new Failure(
                        Code.TIMED_OUT, loop.group().rank(), -1, RankLists.numbers(verdict.culprits()), text, null));
    }

    /** Returns the ranks to blame, with those first for which the peer itself waits: an operator looks there. */
    private String blamed(BitSet culprits, Transfer late) {
        int self = loop.group().rank();
        BitSet others = (BitSet) culprits.clone();
        others.clear(self);
        if (others.isEmpty()) {
            return "rank " + (culprits.isEmpty() ? late.peer : self);
        }
        if (others.get(late.peer)) {
            return RankLists.ranks(others);
        }
        return RankLists.ranks(culprits) + ", at the end of the wait chain of rank " + late.peer + ",";
    }

    /** Returns the status of this rank; any thread. */
    public RankStatus status() {
        Snapshot last = snapshot;
        Transfer begun = newest;
        if (last == null && begun == null) {
            return RankStatus.IDLE;
        }
        return last == null ? status(begun, "", Set.of(begun.peer)) : last.status;
    }

    private static RankStatus status(Transfer first, String more, Set<Integer> peers) {
        return new RankStatus(0, first.work.description() + more, "", peers, first.work.begunNanos());
    }

    /** Removes an ended transfer from the stored status. */
    private void forget(Transfer ended) {
        Snapshot last = snapshot;
        if (last != null && last.of == ended) {
            snapshot = null;
        }
        if (newest == ended) {
            newest = pending.isEmpty() ? null : pending.get(pending.size() - 1);
        }
    }

    private Snapshot snapshot() {
        BitSet peers = new BitSet();
        for (Transfer transfer : pending) {
            peers.set(transfer.peer);
        }
        Transfer first = pending.get(0);
        return new Snapshot(status(first, more(pending.size() - 1), RankLists.numbers(peers)), first);
    }

    private static String more(int others) {
        return others == 0 ? "" : " and " + others + " more";
    }

    @Override
    public boolean interrupted(PendingWork work) {
        advance(false);
        for (Transfer transfer : pending) {
            if (transfer.work == work && transfer.canBeGivenUp()) {
                end(transfer, Failures.interrupted(loop.group(), work.description(), -1));
                return true;
            }
        }
        return work.isDone();
    }

    /** Fails all pending transfers. */
    public void settle(Failure failure) {
        for (Transfer next = submitted.poll(); next != null; next = submitted.poll()) {
            pending.add(next);
        }
        for (Transfer transfer : pending) {
            transfer.work.fail(failure, transfer.position());
        }
        pendingCount.addAndGet(-pending.size());
        pending.clear();
        snapshot = null;
        newest = null;
    }

    @Override
    public void finish(Transfer transfer) {
        // after a failure everything is settled already
        if (pending.remove(transfer)) {
            forget(transfer);
            pendingCount.decrementAndGet();
            transfer.work.counted(transfer.isSend ? CallCounter.SEND : CallCounter.RECEIVE, 1, transfer.bytes());
            transfer.ended();
            transfer.work.succeed(-1, transfer.bytes());
        }
    }

    /** Fails the group because a message matched a receive of another shape. */
    @Override
    public void mismatched(Transfer receive, DataType type, long bytes) {
        int rank = loop.group().rank();
        String text =
                "rank " + receive.peer + " sent " + MatchingQueue.shape(type, bytes) + ", " + bytes + " bytes, to rank "
                        + rank + " with tag " + receive.tag + ", rank " + rank + " receives " + receive.shape() + ", "
                        + receive.tensor.byteCount()
                        + " bytes: "
                        + (receive.kind == Transfer.Kind.RECEIVE_UP_TO
                                ? "types must be equal unless one side has plain bytes (i8, u8, a ByteBuffer), and the message must not be longer than the receive"
                                : "type and count must be equal, unless one side has plain bytes (i8, u8, a ByteBuffer) of the same total size");
        Set<Integer> both = new TreeSet<>(List.of(receive.peer, rank)); // one rank if it sends to itself
        control.fail(new Failure(Code.MISMATCH, rank, -1, both, text, null));
    }

    @Override
    public MessageCounts.OfPeer counts(int peer) {
        return control.exits().messages().of(peer);
    }

    @Override
    public void nonsense(int peer, String what) {
        String text = "rank " + peer + " sent an invalid message: " + what;
        control.fail(new Failure(Code.PROTOCOL, loop.group().rank(), -1, Set.of(peer), text, null));
    }

    private void start(Transfer transfer) {
        if (transfer.peer == loop.group().rank()) {
            own.start(transfer);
            return;
        }
        if (transfer.isSend && control.exits().has(transfer.peer)) {
            failForLeaver(transfer, "it accepts no more messages");
            return;
        }
        PeerLane lane = laneTo(transfer.peer);
        if (transfer.isSend) {
            lane.send(transfer);
        } else {
            lane.receive(transfer);
        }
    }

    private PeerLane laneTo(int peer) {
        PeerLane lane = peers.get(peer);
        if (lane == null) {
            lane = new PeerLane(peer, lanes.to(peer), header, this);
            peers.put(peer, lane);
            peerList.add(lane);
        }
        return lane;
    }

    private void end(Transfer transfer, Failure why) {
        if (!transfer.canBeGivenUp()) {
            control.fail(why);
            return;
        }
        if (transfer.peer == loop.group().rank()) {
            own.giveUp(transfer);
        } else {
            peers.get(transfer.peer).giveUp(transfer);
        }
        pending.remove(transfer);
        forget(transfer);
        pendingCount.decrementAndGet();
        transfer.work.fail(why, transfer.position());
    }
}
