package ferro.tck;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.util.function.IntUnaryOperator;

/** Whole numbers in one memory, out of which all tensors of a call are cut. */
final class OneMemory {
    /** Elements before the first and behind the last of a call. */
    private static final int MARGIN = 7;

    private static final int UNWRITTEN = 0x6B6B6B6B;

    private final HostTensor all;
    private final Kind kind;

    private OneMemory(HostTensor all, Kind kind) {
        this.all = all;
        this.kind = kind;
        clear();
    }

    /** What memory it is. */
    enum Kind {
        /** Parts of one array. */
        ARRAY,
        /** Parts of one direct buffer. */
        BUFFER,
        /** Each part by a buffer of its own. */
        SEVERAL_BUFFERS,
        /** Parts of what the group has allocated. */
        OF_THE_GROUP
    }

    /** Makes memory for so many elements and the margins; all ranks at once. */
    static OneMemory of(Kind kind, ProcessGroup group, int length) {
        int elements = length + 2 * MARGIN;
        HostTensor all = switch (kind) {
            case ARRAY -> HostTensor.of(new int[elements]);
            case OF_THE_GROUP -> group.allocate(DataType.INT32, elements);
            default -> HostTensor.allocate(DataType.INT32, elements);
        };
        return new OneMemory(all, kind);
    }

    void clear() {
        Bits.fill(all, index -> UNWRITTEN);
    }

    /** Returns elements, counted from behind the first margin, as a view of their own. */
    HostTensor cut(long from, long count) {
        HostTensor part = all.slice(MARGIN + from, count);
        return kind == Kind.SEVERAL_BUFFERS ? HostTensor.of(part.dataType(), part.buffer()) : part;
    }

    /** Returns what is wrong with elements, or null. */
    static String wrong(HostTensor tensor, IntUnaryOperator byIndex) {
        long[] found = Bits.of(tensor);
        for (int index = 0; index < found.length; index++) {
            if (found[index] != byIndex.applyAsInt(index)) {
                return "element " + index + ": need " + byIndex.applyAsInt(index) + ", found " + found[index];
            }
        }
        return null;
    }

    /** Returns whether nothing has been written anywhere. */
    boolean isUnwritten() {
        return wrong(all, index -> UNWRITTEN) == null;
    }
}
