package ferro.collectives;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.reduce.Elements;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Messages of one peer that no receive has met, and receives that no message has met; in order, matched by tag. */
final class Mailbox {
    /** What a message costs beside its elements, so that empty ones are bounded too. */
    private static final long COST_BYTES = 256;

    private final List<Transfer> receives = new ArrayList<>();
    private final List<Letter> letters = new ArrayList<>();
    private long bytesKept;

    /** A message that came before its receive: its elements, or only its announcement. */
    static final class Letter {
        final long tag;
        final DataType type;
        final long bytes;
        /** Null for an announcement. */
        final ByteBuffer content;

        boolean complete;
        Transfer taker;

        Letter(long tag, DataType type, long bytes, boolean announced) {
            this.tag = tag;
            this.type = type;
            this.bytes = bytes;
            this.content =
                    announced ? null : ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
        }

        private long cost() {
            return COST_BYTES + (content == null ? 0 : bytes);
        }

        /** Returns a letter with the elements of a message. */
        static Letter of(long tag, HostTensor data) {
            Letter letter = new Letter(tag, data.dataType(), data.byteCount(), false);
            Elements.copy(data.dataType(), letter.content, 0, data.memory(), Elements.at(data, 0), data.elementCount());
            return letter;
        }

        /** Hands the elements over. */
        void copyInto(HostTensor tensor) {
            Elements.copy(
                    tensor.dataType(), tensor.memory(), Elements.at(tensor, 0), content, 0, tensor.elementCount());
        }
    }

    /** Whether a message may be received as that: the same elements, or as many bytes where one side has bytes. */
    static boolean fits(HostTensor into, DataType type, long bytes) {
        return into.byteCount() == bytes && (into.dataType() == type || isBytes(type) || isBytes(into.dataType()));
    }

    private static boolean isBytes(DataType type) {
        return type == DataType.INT8 || type == DataType.UINT8;
    }

    /** Says what is in a message: f32[1000]. */
    static String shape(DataType type, long bytes) {
        return type.label() + "[" + bytes / type.byteSize() + "]";
    }

    long bytesKept() {
        return bytesKept;
    }

    /** Takes the first receive of a tag, or null. */
    Transfer takeReceive(long tag) {
        for (Iterator<Transfer> each = receives.iterator(); each.hasNext(); ) {
            Transfer receive = each.next();
            if (receive.tag == tag) {
                each.remove();
                receive.matched = true;
                return receive;
            }
        }
        return null;
    }

    /** Takes the first letter of a tag, whether it is all there or not, or null. */
    Letter takeLetter(long tag) {
        for (Iterator<Letter> each = letters.iterator(); each.hasNext(); ) {
            Letter letter = each.next();
            if (letter.tag == tag) {
                each.remove();
                bytesKept -= letter.cost();
                return letter;
            }
        }
        return null;
    }

    void keep(Letter letter) {
        letters.add(letter);
        bytesKept += letter.cost();
    }

    void post(Transfer receive) {
        receives.add(receive);
    }

    void giveUp(Transfer receive) {
        receives.remove(receive);
    }
}
