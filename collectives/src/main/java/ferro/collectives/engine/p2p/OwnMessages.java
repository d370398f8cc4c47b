package ferro.collectives.engine.p2p;

import ferro.HostTensor;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Messages of this rank to itself, which never use a link. Small messages are kept, so that the send returns at once.
 * Belongs to the thread that holds the progress lock.
 */
final class OwnMessages {
    /** Bytes that a message takes along at once if it changes its type. */
    private static final long PIECE_BYTES = 1 << 20;

    private final PeerLane.LaneOwner owner;
    private final int rank;
    private final MatchingQueue matching;
    /** Sends above the limit of kept messages, whose announcements are in the queue. */
    private final List<Transfer> announced = new ArrayList<>();

    OwnMessages(int rank, PeerLane.LaneOwner owner, MatchingQueue matching) {
        this.rank = rank;
        this.owner = owner;
        this.matching = matching;
    }

    /** Returns whether a receive takes a message that was sent before it. */
    boolean hasUnexpected(Transfer receive) {
        return matching.hasUnexpected(receive);
    }

    void giveUp(Transfer receive) {
        matching.giveUp(receive);
    }

    void send(Transfer send) {
        Transfer receive = matching.takeReceive(send.tag);
        if (receive != null) {
            deliver(send, receive);
        } else if (send.tensor.byteCount() <= PeerLane.EAGER_BYTES) {
            matching.keep(MatchingQueue.UnexpectedMessage.of(send.tag, send.tensor));
            owner.finish(send);
        } else {
            HostTensor data = send.tensor;
            matching.keep(new MatchingQueue.UnexpectedMessage(send.tag, data.dataType(), data.byteCount(), true));
            announced.add(send);
        }
    }

    void receive(Transfer receive) {
        MatchingQueue.UnexpectedMessage message = matching.takeUnexpected(receive);
        if (message == null) {
            matching.post(receive);
        } else if (message.content == null) {
            deliver(takeAnnounced(message.tag), receive);
        } else {
            receive.match(rank, message.tag, message.type, message.bytes);
            if (receive.fits(message.type, message.bytes)) {
                message.copyInto(receive.tensor);
                owner.finish(receive);
            } else {
                owner.mismatched(receive, message.type, message.bytes);
            }
        }
    }

    /** Removes and returns the first announced send of a tag; there is one for each announcement in the queue. */
    private Transfer takeAnnounced(long tag) {
        Iterator<Transfer> each = announced.iterator();
        Transfer send = each.next();
        while (send.tag != tag) {
            send = each.next();
        }
        each.remove();
        return send;
    }

    private void deliver(Transfer send, Transfer receive) {
        HostTensor from = send.tensor;
        receive.match(rank, send.tag, from.dataType(), from.byteCount());
        if (!receive.fits(from.dataType(), from.byteCount())) {
            owner.mismatched(receive, from.dataType(), from.byteCount());
            return;
        }
        long count = receive.elements();
        HostTensor full = receive.tensor;
        HostTensor into = count == full.elementCount() ? full : full.slice(0, count);
        if (from.dataType() == into.dataType()) {
            into.copyFrom(0, from, 0, from.elementCount());
        } else {
            convert(from, into);
        }
        owner.finish(receive);
        owner.finish(send);
    }

    /** Copies the bits of elements of one type to elements of another type, in pieces. */
    private static void convert(HostTensor from, HostTensor into) {
        long bytes = from.byteCount();
        for (long done = 0; done < bytes; done += PIECE_BYTES) {
            long piece = Math.min(PIECE_BYTES, bytes - done);
            MatchingQueue.UnexpectedMessage.of(0, part(from, done, piece)).copyInto(part(into, done, piece));
        }
    }

    private static HostTensor part(HostTensor of, long fromByte, long bytes) {
        int unit = of.dataType().byteSize();
        return of.slice(fromByte / unit, bytes / unit);
    }
}
