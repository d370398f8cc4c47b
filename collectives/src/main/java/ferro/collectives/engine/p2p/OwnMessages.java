package ferro.collectives.engine.p2p;

import ferro.HostTensor;
import ferro.MessageKind;

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

    OwnMessages(int rank, PeerLane.LaneOwner owner, MatchingQueue matching) {
        this.rank = rank;
        this.owner = owner;
        this.matching = matching;
    }

    /** Returns the message that was sent before a receive and that the receive takes, or null. */
    MatchingQueue.UnexpectedMessage findUnexpected(Transfer receive) {
        return matching.findUnexpected(receive);
    }

    /** Ends a probe by a message that was sent. */
    void end(Transfer probe, MatchingQueue.UnexpectedMessage message) {
        matching.end(probe, message);
    }

    void giveUp(Transfer receive) {
        matching.giveUp(receive);
    }

    void send(Transfer send) {
        Transfer receive = matching.takeReceive(send.tag);
        if (receive != null && receive.kind != MessageKind.MATCH) {
            deliver(send, receive);
            return;
        }
        HostTensor data = send.tensor;
        boolean isEager = send.isEager();
        MatchingQueue.UnexpectedMessage message = isEager
                ? MatchingQueue.UnexpectedMessage.of(send.tag, data)
                : new MatchingQueue.UnexpectedMessage(send.tag, data.dataType(), data.byteCount(), true);
        message.ownSend = isEager ? null : send;
        if (receive == null) {
            matching.keep(message);
        } else {
            matching.end(receive, message);
        }
        if (isEager) {
            owner.finish(send);
        }
    }

    void receive(Transfer receive) {
        MatchingQueue.UnexpectedMessage message = matching.takeUnexpected(receive);
        if (message == null) {
            matching.post(receive);
        } else if (receive.kind == MessageKind.MATCH) {
            matching.end(receive, message);
        } else {
            receive(message, receive);
        }
    }

    /** Receives a message that a match has taken. */
    void receiveMatched(Transfer receive) {
        receive(receive.held, receive);
    }

    private void receive(MatchingQueue.UnexpectedMessage message, Transfer receive) {
        if (message.content == null) {
            deliver(message.ownSend, receive);
            return;
        }
        receive.match(rank, message.tag, message.type, message.bytes);
        if (receive.fits(message.type, message.bytes)) {
            message.copyInto(receive.tensor);
            owner.finish(receive);
        } else {
            owner.mismatched(receive, message.type, message.bytes);
        }
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
