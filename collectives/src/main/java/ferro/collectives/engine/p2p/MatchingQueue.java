package ferro.collectives.engine.p2p;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.reduce.Elements;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Unmatched messages of one peer and unmatched receives, in order; matched by tag. */
final class MatchingQueue {
    /** Counted for each message in addition to its elements, so that empty messages are bounded too. */
    private static final long COST_BYTES = 256;

    private final List<Transfer> receives = new ArrayList<>();
    private final List<UnexpectedMessage> unexpected = new ArrayList<>();
    private long bytesKept;

    /** A message that came before its receive: its elements, or its announcement only. */
    static final class UnexpectedMessage {
        final long tag;
        final DataType type;
        final long bytes;
        /** Null for an announcement. */
        final ByteBuffer content;

        boolean complete;
        Transfer taker;

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

        /** Returns an unexpected message that holds a copy of these elements. */
        static UnexpectedMessage of(long tag, HostTensor data) {
            UnexpectedMessage message = new UnexpectedMessage(tag, data.dataType(), data.byteCount(), false);
            Elements.copy(
                    data.dataType(), message.content, 0, data.memory(), Elements.at(data, 0), data.elementCount());
            return message;
        }

        /** Copies the elements to the first elements of a tensor. */
        void copyInto(HostTensor tensor) {
            long count = bytes / tensor.dataType().byteSize();
            Elements.copy(tensor.dataType(), tensor.memory(), Elements.at(tensor, 0), content, 0, count);
        }
    }

    /** Describes the content of a message, for example f32[1000]. */
    static String shape(DataType type, long bytes) {
        return type.label() + "[" + bytes / type.byteSize() + "]";
    }

    long bytesKept() {
        return bytesKept;
    }

    /** Removes and returns the first receive of a tag, or returns null. */
    Transfer takeReceive(long tag) {
        for (Iterator<Transfer> each = receives.iterator(); each.hasNext(); ) {
            Transfer receive = each.next();
            if (receive.tag == tag) {
                each.remove();
                return receive;
            }
        }
        return null;
    }

    /** Removes and returns the first unexpected message of a tag, complete or not, or returns null. */
    UnexpectedMessage takeUnexpected(long tag) {
        for (Iterator<UnexpectedMessage> each = unexpected.iterator(); each.hasNext(); ) {
            UnexpectedMessage message = each.next();
            if (message.tag == tag) {
                each.remove();
                bytesKept -= message.cost();
                return message;
            }
        }
        return null;
    }

    void keep(UnexpectedMessage message) {
        unexpected.add(message);
        bytesKept += message.cost();
    }

    void post(Transfer receive) {
        receives.add(receive);
    }

    void giveUp(Transfer receive) {
        receives.remove(receive);
    }
}
