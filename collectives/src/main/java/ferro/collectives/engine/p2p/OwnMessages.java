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
    private final MatchingQueue matching = new MatchingQueue();
    /** Sends above the limit of kept messages, whose announcements are in the queue. */
    private final List<Transfer> announced = new ArrayList<>();

    OwnMessages(PeerLane.LaneOwner owner) {
        this.owner = owner;
    }

    void start(Transfer transfer) {
        if (transfer.isSend) {
            send(transfer);
        } else {
            receive(transfer);
        }
    }

    void giveUp(Transfer receive) {
        matching.giveUp(receive);
    }

    private void send(Transfer send) {
        Transfer receive = matching.takeReceive(send.tag);
        if (receive != null) {
            meet(send, receive);
        } else if (send.tensor.byteCount() <= PeerLane.EAGER_BYTES) {
            matching.keep(MatchingQueue.UnexpectedMessage.of(send.tag, send.tensor));
            owner.finish(send);
        } else {
            HostTensor data = send.tensor;
            matching.keep(new MatchingQueue.UnexpectedMessage(send.tag, data.dataType(), data.byteCount(), true));
            announced.add(send);
        }
    }

    private void receive(Transfer receive) {
        MatchingQueue.UnexpectedMessage message = matching.takeUnexpected(receive.tag);
        if (message == null) {
            matching.post(receive);
        } else if (message.content == null) {
            meet(takeAnnounced(message.tag), receive);
        } else {
            receive.match(message.type, message.bytes);
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

    private void meet(Transfer send, Transfer receive) {
        HostTensor from = send.tensor;
        receive.match(from.dataType(), from.byteCount());
        if (!receive.fits(from.dataType(), from.byteCount())) {
            owner.mismatched(receive, from.dataType(), from.byteCount());
            return;
        }
        long count = receive.elements();
        HostTensor whole = receive.tensor;
        HostTensor into = count == whole.elementCount() ? whole : whole.slice(0, count);
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
