package ferro.tck.cells;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.util.function.IntUnaryOperator;

/** Integers in one memory. All tensors of a call are slices of this memory. */
public final class OneMemory {
    /** Number of elements before the first and after the last element of a call. */
    private static final int MARGIN = 7;

    private static final int UNWRITTEN = 0x6B6B6B6B;

    private final HostTensor all;
    private final MemoryKind kind;

    private OneMemory(HostTensor all, MemoryKind kind) {
        this.all = all;
        this.kind = kind;
        clear();
    }

    /** The kind of the memory. */
    public enum MemoryKind {
        /** Parts of one array. */
        ARRAY,
        /** Parts of one direct buffer. */
        BUFFER,
        /** Parts of one direct buffer, each with its own buffer object. */
        SEVERAL_BUFFERS,
        /** Parts of memory that the group has allocated. */
        OF_THE_GROUP,
        /** Parts of memory that its owner may free ({@link ferro.ForeignMemory}). */
        FOREIGN
    }

    /** Allocates memory for {@code length} elements and the margins. All ranks must make this call. */
    public static OneMemory of(MemoryKind kind, ProcessGroup group, int length) {
        int elements = length + 2 * MARGIN;
        HostTensor all = switch (kind) {
            case ARRAY -> HostTensor.of(new int[elements]);
            case FOREIGN -> HeldBytes.tensor(DataType.INT32, elements);
            case OF_THE_GROUP -> group.allocate(DataType.INT32, elements).tensor();
            default -> HostTensor.allocate(DataType.INT32, elements);
        };
        return new OneMemory(all, kind);
    }

    void clear() {
        Bits.fill(all, index -> UNWRITTEN);
    }

    /** Returns a view of {@code count} elements from index {@code from} on. The index 0 follows the first margin. */
    public HostTensor cut(long from, long count) {
        HostTensor part = all.slice(MARGIN + from, count);
        return kind == MemoryKind.SEVERAL_BUFFERS ? HostTensor.of(part.dataType(), part.buffer()) : part;
    }

    /** Returns a description of the first wrong element, or null if all elements are right. */
    public static String wrong(HostTensor tensor, IntUnaryOperator byIndex) {
        long[] found = Bits.of(tensor);
        for (int index = 0; index < found.length; index++) {
            if (found[index] != byIndex.applyAsInt(index)) {
                return "element " + index + ": need " + byIndex.applyAsInt(index) + ", found " + found[index];
            }
        }
        return null;
    }

    /** Returns whether no element has been written. */
    public boolean isUnwritten() {
        return wrong(all, index -> UNWRITTEN) == null;
    }
}
