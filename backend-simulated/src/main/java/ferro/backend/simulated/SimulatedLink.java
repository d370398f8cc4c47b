package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport.Lane;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;

/** One lane to one peer. Sends use one channel; this rank's progress thread serves receives from the other. */
final class SimulatedLink implements Link {
    private static final long NO_CALL = Long.MIN_VALUE;

    private final SimulatedTransport transport;
    private final int peer;
    private final Lane lane;
    private final LaneQueue outgoing;
    private final LaneQueue incoming;
    private final AtomicBoolean signalled = new AtomicBoolean();
    /** Next link in the transport's stack of links to poll; used by the thread that pushed this link. */
    SimulatedLink nextReady;

    /** Receives in their order; small at first, because a simulation may have a million links. */
    private final Queue<PostedReceive> open = new ArrayDeque<>(1);
    /** Finished receives, which are used again. */
    private final Queue<PostedReceive> free = new ArrayDeque<>(1);

    private long sendSequence = NO_CALL;
    private long receiveSequence = NO_CALL;
    private long received;
    private long seenSent;
    private boolean sentAfterEnd;
    private boolean failed;
    private volatile boolean dropped;

    SimulatedLink(SimulatedTransport transport, int peer, Lane lane, GroupInbox.Wire wire) {
        this.transport = transport;
        this.peer = peer;
        this.lane = lane;
        outgoing = wire.outgoing();
        incoming = wire.incoming();
        outgoing.sender(this);
        incoming.receiver(this);
    }

    @Override
    public void send(CallHeader call, HostTensor data, long from, long count) {
        if (dropped) {
            return;
        }
        boolean header = call.sequence() != sendSequence;
        sendSequence = call.sequence();
        outgoing.post(call, header, data, from, count);
        transport.network().medium().posted(outgoing, outgoing.posted());
        if (outgoing.receiverGone() != null) {
            sentAfterEnd = true;
            mark();
        }
    }

    @Override
    public void receive(CallHeader call, HostTensor into, long from, long count) {
        expect(call, into, from, count, null);
    }

    @Override
    public void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
        expect(call, into, from, count, op);
    }

    private void expect(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
        if (dropped) {
            return;
        }
        boolean header = call.sequence() != receiveSequence;
        receiveSequence = call.sequence();
        if (!header && count == 0 && open.isEmpty()) {
            received++;
            return;
        }
        PostedReceive receive = free.isEmpty() ? new PostedReceive() : free.remove();
        open.add(receive);
        receive.call = call;
        receive.header = header;
        receive.into = into;
        receive.from = from;
        receive.bytes = count == 0 ? 0 : count * into.dataType().byteSize();
        receive.taken = 0;
        receive.op = op;
        mark();
    }

    @Override
    public long sent() {
        return outgoing.sent();
    }

    @Override
    public long received() {
        return received;
    }

    @Override
    public long bytesMoved() {
        return outgoing == incoming ? 2 * incoming.movedBytes() : outgoing.movedBytes() + incoming.movedBytes();
    }

    /** Adds this link to the next poll, and wakes this rank's progress thread. Any thread may call this method. */
    void signal() {
        if (!signalled.getAndSet(true)) {
            transport.ready(this);
            transport.wakeup();
        }
    }

    /** Adds this link to the next poll; called by the thread that makes progress, which needs no wake-up. */
    private void mark() {
        if (!signalled.getAndSet(true)) {
            transport.ready(this);
        }
    }

    /** Moves what can be moved, after a signal of the peer or a post of this rank. */
    boolean pump() {
        signalled.getAndSet(false);
        if (dropped || failed) {
            return false;
        }
        // read before the posts, so that all posts of the peer before its end are seen
        String senderGone = incoming.senderGone();
        long sent = outgoing.sent();
        boolean moved = sent != seenSent;
        seenSent = sent;
        while (step()) {
            moved = true;
        }
        if (!failed && !dropped) {
            reportEnd(senderGone);
        }
        return moved;
    }

    /** Does one step for the first receive; returns whether another step may be possible. */
    private boolean step() {
        SimulatedPost post = incoming.first(transport.network().medium());
        if (failed || dropped || open.isEmpty()) {
            return false;
        }
        PostedReceive receive = open.element();
        if (receive.finished()) {
            removeFirst();
            received++;
            return true;
        }
        if (post == null) {
            return false;
        }
        if (receive.header != post.header) {
            outOfStep(post, receive);
            return false;
        }
        return receive.header ? takeHeader(post, receive) : takeElements(post, receive);
    }

    private boolean takeHeader(SimulatedPost post, PostedReceive receive) {
        CallHeader expected = receive.call;
        CallHeader onWire = WireHeader.other(expected, post.headerBytes, 0);
        if (onWire != null) {
            failed = true;
            transport.tellMismatched(peer, expected, onWire);
            return false;
        }
        receive.header = false;
        post.header = false;
        return true;
    }

    private boolean takeElements(SimulatedPost post, PostedReceive receive) {
        if (PostCopier.whole(post, receive) == 0) {
            outOfStep(post, receive);
            return false;
        }
        return incoming.take(post, receive, transport.movement()) > 0;
    }

    private void outOfStep(SimulatedPost post, PostedReceive receive) {
        failed = true;
        transport.tellOutOfStep(
                peer, has(receive.header, receive.bytes - receive.taken), has(post.header, post.bytes - post.taken));
    }

    private static String has(boolean header, long bytes) {
        return header ? "a header" : bytes + " bytes of elements";
    }

    private void reportEnd(String senderGone) {
        if (senderGone != null && !open.isEmpty()) {
            fail(senderGone);
        } else if (outgoing.receiverGone() != null && (sentAfterEnd || outgoing.sent() < outgoing.posted())) {
            fail(outgoing.receiverGone());
        }
    }

    private void fail(String why) {
        failed = true;
        long waitedFor = open.isEmpty() ? 0 : open.element().call.sequence();
        transport.tellBroken(
                peer,
                lane == Lane.COLLECTIVE ? waitedFor : -1,
                why + " with " + Math.max(0, outgoing.posted() - outgoing.sent()) + " sends and " + open.size()
                        + " receives unfinished after " + bytesMoved() + " bytes on the link");
    }

    /** Ignores every post from now on. */
    void drop() {
        dropped = true;
    }

    /** Drops the references to the memory of receives; called by the thread that makes progress. */
    void forget() {
        while (!open.isEmpty()) {
            removeFirst();
        }
    }

    private void removeFirst() {
        PostedReceive done = open.remove();
        done.into = null;
        done.call = null;
        done.op = null;
        free.add(done);
    }
}
