package ferro.tck.cells;

import ferro.DataType;
import ferro.HostTensor;
import ferro.Tensor;
import ferro.group.ProcessGroup;
import java.util.function.IntUnaryOperator;

/** Integers in one memory. All tensors of a call are slices of this memory. */
public final class OneMemory {
    private final Operand all;
    private final MemoryKind kind;

    private OneMemory(HostTensor all, MemoryKind kind) {
        this.all = Operand.in(all);
        this.kind = kind;
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

    /** Allocates memory for {@code length} elements, with guard elements around them. All ranks must make this call. */
    public static OneMemory of(MemoryKind kind, ProcessGroup group, int length) {
        int elements = length + 2 * Operand.GUARD;
        HostTensor all = switch (kind) {
            case ARRAY -> HostTensor.of(new int[elements]);
            case FOREIGN -> HeldBytes.tensor(DataType.INT32, elements);
            case OF_THE_GROUP -> group.allocate(DataType.INT32, elements).tensor();
            default -> HostTensor.allocate(DataType.INT32, elements);
        };
        return new OneMemory(all, kind);
    }

    void clear() {
        all.unwrite();
    }

    /** Returns {@code count} elements from an index on as an operand of a call. */
    Operand part(long from, long count) {
        return all.part(from, count);
    }

    /** Returns a view of {@code count} elements from an index on. */
    public HostTensor cut(long from, long count) {
        return (HostTensor) again(part(from, count).tensor());
    }

    /** Returns another tensor with the elements of a tensor; null for null. */
    Tensor again(Tensor tensor) {
        if (tensor == null) {
            return null;
        }
        HostTensor view = ((HostTensor) tensor).slice(0, tensor.elementCount());
        return kind == MemoryKind.SEVERAL_BUFFERS ? HostTensor.of(view.dataType(), view.buffer()) : view;
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
        return all.isUnwritten() && all.guardsHold();
    }
}
