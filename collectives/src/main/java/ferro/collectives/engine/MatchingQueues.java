package ferro.collectives.engine;

import ferro.DataType;
import ferro.HostTensor;
import ferro.MessageKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The queues of one peer's unexpected messages and unmatched receives. Messages are matched by tag. Receives from any
 * rank and probes are in lists that the channels of all peers share. Guarded by the progress lock.
 */
abstract class MatchingQueues {
    /** Bytes that each message counts in addition to its elements, so that empty messages are limited too. */
    private static final long COST_BYTES = 256;

    final int peer;
    final PointToPointQueue owner;
    private final PeerMessageChannels channels;
    private final List<Transfer> receives = new ArrayList<>();
    private final List<UnexpectedMessage> unexpected = new ArrayList<>();
    private long bytesKept;

    MatchingQueues(int peer, PeerMessageChannels channels) {
        this.peer = peer;
        this.channels = channels;
        this.owner = channels.owner;
    }

    /** A message that arrived before its receive was posted. The object has the elements, or only the announcement. */
    static final class UnexpectedMessage {
        final long tag;
        final DataType type;
        final long bytes;
        /** The elements of the message; null for an announcement. */
        final ByteBuffer content;

        boolean complete;
        /**
         * Whether a probe from any rank has described the message. Its receive then counts as a receive from any rank.
         */
        boolean isFound;
        /** The receive to which the elements are delivered when all elements have arrived. */
        Transfer taker;
        /** The number of the peer's announcement of this message. */
        long announcement;
        /** The send of this rank, if this rank has announced the message to itself. */
        Transfer ownSend;

        UnexpectedMessage(long tag, DataType type, long bytes, boolean announced) {
            this.tag = tag;
            this.type = type;
            this.bytes = bytes;
            this.content =
                    announced ? null : ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
        }

        private long cost() {
            return COST_BYTES + (content == null ? 0 : bytes);
        }

        /** Returns an unexpected message that holds a copy of the elements of {@code data}. */
        static UnexpectedMessage of(long tag, HostTensor data) {
            UnexpectedMessage message = new UnexpectedMessage(tag, data.dataType(), data.byteCount(), false);
            HostTensor.of(data.dataType(), message.content).copyFrom(0, data, 0, data.elementCount());
            return message;
        }

        void copyInto(HostTensor tensor) {
            long count = bytes / tensor.dataType().byteSize();
            // the tensor may be longer than the message, and in several buffers
            tensor.copyFrom(0, HostTensor.of(tensor.dataType(), content), 0, count);
        }
    }

    /** Describes the content of a message, for example f32[1000]. */
    static String shape(DataType type, long bytes) {
        return type.label() + "[" + bytes / type.byteSize() + "]";
    }

    abstract void send(Transfer send);

    /** Receives a message that arrived before its receive was posted. */
    abstract void receive(UnexpectedMessage message, Transfer receive);

    void receive(Transfer receive) {
        UnexpectedMessage message = takeUnexpected(receive);
        if (message == null) {
            receives.add(receive);
            return;
        }
        if (receive.kind == MessageKind.MATCH) {
            end(receive, message);
        } else if (matches(receive, message.tag, message.type, message.bytes)) {
            receive(message, receive);
        }
    }

    /** Matches a message with a receive. If the message does not fit, fails the group and returns false. */
    boolean matches(Transfer receive, long tag, DataType type, long bytes) {
        receive.match(peer, tag, type, bytes);
        if (receive.fits(type, bytes)) {
            return true;
        }
        owner.mismatched(receive, type, bytes);
        return false;
    }

    /** Ends {@code match}, a match that takes the message. If {@code match} is null, keeps the message in the queue. */
    void keep(UnexpectedMessage message, Transfer match) {
        if (match == null) {
            keep(message);
        } else {
            end(match, message);
        }
    }

    boolean isFull() {
        return bytesKept >= channels.keptLimit;
    }

    /**
     * Removes and returns the first receive that accepts a tag, or returns null. Receives from this peer and receives
     * from any rank are taken in posting order.
     */
    Transfer takeReceive(long tag) {
        int first = first(receives, tag);
        List<Transfer> fromAny = channels.fromAny;
        if (!fromAny.isEmpty()) {
            int any = first(fromAny, tag);
            if (any >= 0 && (first < 0 || fromAny.get(any).number < receives.get(first).number)) {
                return fromAny.remove(any);
            }
        }
        return first < 0 ? null : receives.remove(first);
    }

    private static int first(List<Transfer> receives, long tag) {
        for (int i = 0; i < receives.size(); i++) {
            if (receives.get(i).takes(tag)) {
                return i;
            }
        }
        return -1;
    }

    /** Removes and returns the first unexpected message that a receive accepts, complete or not, or returns null. */
    private UnexpectedMessage takeUnexpected(Transfer receive) {
        // by index, because an iterator would be allocated in each receive
        for (int i = 0; i < unexpected.size(); i++) {
            UnexpectedMessage message = unexpected.get(i);
            if (receive.takes(message.tag)) {
                unexpected.remove(i);
                bytesKept -= message.cost();
                if (message.isFound) {
                    channels.lastTaken[peer] = receive.number;
                }
                return message;
            }
        }
        return null;
    }

    boolean hasUnexpected() {
        return !unexpected.isEmpty();
    }

    /** Returns the first unexpected message that a receive accepts, or null. The message stays in the queue. */
    UnexpectedMessage findUnexpected(Transfer receive) {
        for (int i = 0; i < unexpected.size(); i++) {
            if (receive.takes(unexpected.get(i).tag)) {
                return unexpected.get(i);
            }
        }
        return null;
    }

    /** Keeps a message that no receive accepts, and ends the probes that wait for such a message. */
    private void keep(UnexpectedMessage message) {
        unexpected.add(message);
        bytesKept += message.cost();
        for (int i = 0; i < channels.probes.size(); i++) {
            Transfer probe = channels.probes.get(i);
            if ((probe.isFromAny() || probe.peer == peer) && probe.takes(message.tag)) {
                channels.probes.remove(i--);
                end(probe, message);
            }
        }
    }

    void end(Transfer probe, UnexpectedMessage message) {
        message.isFound |= probe.kind == MessageKind.PROBE && probe.isFromAny();
        probe.match(peer, message.tag, message.type, message.bytes);
        if (probe.kind == MessageKind.MATCH) {
            probe.held = message;
        }
        owner.finish(probe);
    }

    void giveUp(Transfer receive) {
        receives.remove(receive);
    }
}
