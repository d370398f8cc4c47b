package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.MessageKind;

/**
 * Messages of this rank to itself, which never use a link. Small messages are kept, so that the send returns at once.
 * Belongs to the thread that holds the progress lock.
 */
final class OwnLane extends MessageLane {
    /** Bytes that a message takes along at once if it changes its type. */
    private static final long PIECE_BYTES = 1 << 20;

    OwnLane(int rank, LaneOwner owner, SharedWaits waiting, long keptLimit) {
        super(rank, owner, waiting, keptLimit);
    }

    @Override
    void send(Transfer send) {
        Transfer receive = takeReceive(send.tag);
        HostTensor data = send.tensor;
        if (receive != null && receive.kind != MessageKind.MATCH) {
            if (matches(receive, send.tag, data.dataType(), data.byteCount())) {
                deliver(send, receive);
            }
            return;
        }
        boolean isEager = send.isEager();
        UnexpectedMessage message = isEager
                ? UnexpectedMessage.of(send.tag, data)
                : new UnexpectedMessage(send.tag, data.dataType(), data.byteCount(), true);
        message.ownSend = isEager ? null : send;
        keep(message, receive);
        if (isEager) {
            owner.finish(send);
        }
    }

    @Override
    void receive(UnexpectedMessage message, Transfer receive) {
        if (message.content == null) {
            deliver(message.ownSend, receive);
            return;
        }
        message.copyInto(receive.tensor);
        owner.finish(receive);
    }

    private void deliver(Transfer send, Transfer receive) {
        HostTensor from = send.tensor;
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
            UnexpectedMessage.of(0, part(from, done, piece)).copyInto(part(into, done, piece));
        }
    }

    private static HostTensor part(HostTensor of, long fromByte, long bytes) {
        int unit = of.dataType().byteSize();
        return of.slice(fromByte / unit, bytes / unit);
    }
}
