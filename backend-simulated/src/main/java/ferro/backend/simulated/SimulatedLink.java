package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport.Lane;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lane to a peer. Sends use one channel. This rank's progress thread copies data for receives from the other channel.
 */
final class SimulatedLink implements Link {
    private static final long NO_CALL = Long.MIN_VALUE;

    private final SimulatedTransport transport;
    private final int peer;
    private final Lane lane;
    private final LinkQueue outgoing;
    private final LinkQueue incoming;
    private final AtomicBoolean signalled = new AtomicBoolean();
    /**
     * Next link in the transport's stack of links to poll. Only the thread that pushed this link on the stack
     * writes this field, and the poll reads it.
     */
    SimulatedLink nextReady;

    /** Unfinished receives. The ring is small at first, because a simulation may have a million links. */
    private final PostRing receives = new PostRing(1);

    private long sendSequence = NO_CALL;
    private long seenSent;
    private boolean sentAfterEnd;
    private boolean failed;
    private volatile boolean dropped;

    SimulatedLink(SimulatedTransport transport, int peer, Lane lane, GroupInbox.LinkQueuePair wire) {
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
        if (!dropped) {
            receives.add(call, into, from, count);
            markReceives();
        }
    }

    @Override
    public void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
        if (!dropped) {
            receives.add(call, into, from, count, transport.copier().kernel(into.dataType(), op));
            markReceives();
        }
    }

    /**
     * Marks this link for the next poll if a receive is pending. A receive without header and elements may be finished.
     */
    private void markReceives() {
        if (!receives.isEmpty()) {
            mark();
        }
    }

    @Override
    public long sent() {
        return outgoing.sent();
    }

    @Override
    public long received() {
        return receives.finished();
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

    /** Adds this link to the links of the next poll. The progress thread calls this method and needs no wake-up. */
    private void mark() {
        if (!signalled.getAndSet(true)) {
            transport.ready(this);
        }
    }

    /** Moves the data that can move now, after a signal of the peer or a post of this rank. */
    boolean pump() {
        signalled.getAndSet(false);
        if (dropped || failed) {
            return false;
        }
        // read the end before the posts, so that this rank sees all posts that the peer made before its end
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

    /** Does one step for the first receive. Returns whether another step may be possible. */
    private boolean step() {
        SimulatedPost post = incoming.first(transport.network().medium());
        if (failed || dropped || receives.isEmpty() || post == null) {
            return false;
        }
        if (receives.isAtHeader() != post.header) {
            outOfStep(post);
            return false;
        }
        return post.header ? takeHeader(post) : takeElements(post);
    }

    private boolean takeHeader(SimulatedPost post) {
        CallHeader expected = receives.oldest().call();
        CallHeader onWire = WireHeader.other(expected, post.headerBytes, 0);
        if (onWire != null) {
            failed = true;
            transport.tellMismatched(peer, expected, onWire);
            return false;
        }
        post.header = false;
        receives.advance(WireHeader.BYTES);
        return true;
    }

    private boolean takeElements(SimulatedPost post) {
        if (PostCopier.whole(post, receives) == 0) {
            outOfStep(post);
            return false;
        }
        return incoming.take(post, receives, transport.copier()) > 0;
    }

    private void outOfStep(SimulatedPost post) {
        failed = true;
        long expected = receives.oldest().length() - receives.position();
        transport.tellOutOfStep(peer, has(receives.isAtHeader(), expected), has(post.header, post.bytes - post.taken));
    }

    private static String has(boolean header, long bytes) {
        return header ? "a header" : bytes + " bytes of elements";
    }

    private void reportEnd(String senderGone) {
        if (senderGone != null && !receives.isEmpty()) {
            fail(senderGone);
        } else if (outgoing.receiverGone() != null && (sentAfterEnd || outgoing.sent() < outgoing.posted())) {
            fail(outgoing.receiverGone());
        }
    }

    private void fail(String why) {
        failed = true;
        transport.tellBroken(
                peer,
                lane == Lane.COLLECTIVE ? receives.sequence() : -1,
                why + " with " + Math.max(0, outgoing.posted() - outgoing.sent()) + " sends and " + receives.size()
                        + " receives unfinished after " + bytesMoved() + " bytes on the link");
    }

    /** Ignores every post after this call. */
    void drop() {
        dropped = true;
    }

    /** Drops the references to the memory of receives. The thread that makes progress calls this method. */
    void forget() {
        receives.clear();
    }
}
