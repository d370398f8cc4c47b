package ferro.tck.cells;

import ferro.DataType;
import ferro.HostTensor;
import ferro.Tensor;
import ferro.group.ProcessGroup;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/** The elements of a call in any kind of memory. Guard elements are on both sides, except in a full array. */
public final class Operand {
    /** Value of every unwritten element. */
    private static final long UNWRITTEN = 0x6B6B6B6B6B6B6B6BL;

    /** Number of guard elements on each side. */
    static final int GUARD = 5;

    private final OperandMemory kind;
    private final HostTensor memory;
    private final HostTensor tensor;

    private Operand(OperandMemory kind, HostTensor memory, HostTensor tensor) {
        this.kind = kind;
        this.memory = memory;
        this.tensor = tensor;
    }

    /** The kind of memory of the elements. Ranks of one call use different kinds. */
    public enum OperandMemory {
        /** A full array without guard elements. */
        ARRAY,
        /** The middle of an array, between guard elements. */
        PART_OF_ARRAY,
        /** The middle of a direct buffer, between guard elements. */
        DIRECT_BUFFER,
        /** The middle of memory that an owner may free at any time ({@link ferro.ForeignMemory}). */
        FOREIGN,
        /** The middle of a direct buffer. Each tensor has a separate buffer object. */
        SEVERAL_BUFFERS,
        /** The middle of memory that the group has allocated. */
        OF_THE_GROUP;

        /** Returns one of the first four kinds for a number. Consecutive numbers give different kinds. */
        public static OperandMemory of(int number) {
            return values()[number % SEVERAL_BUFFERS.ordinal()];
        }

        private int guard() {
            return this == ARRAY ? 0 : GUARD;
        }
    }

    /** Creates an operand of unwritten elements in any memory except memory of a group. */
    public static Operand unwritten(DataType type, int length, OperandMemory kind) {
        return unwritten(type, length, kind, null);
    }

    /** Creates an operand of unwritten elements. All ranks of the group must make this call for memory of the group. */
    public static Operand unwritten(DataType type, int length, OperandMemory kind, ProcessGroup group) {
        int all = length + 2 * kind.guard();
        HostTensor memory = switch (kind) {
            case ARRAY, PART_OF_ARRAY -> HostTensor.ofArray(type, type.carrier().newArray(all), 0, all);
            case DIRECT_BUFFER, SEVERAL_BUFFERS -> HostTensor.allocate(type, all);
            case FOREIGN -> ForeignBuffer.tensor(type, all);
            case OF_THE_GROUP -> group.allocate(type, all).tensor();
        };
        return new Operand(kind, memory, memory.slice(kind.guard(), length)).unwrite();
    }

    /** Makes every element unwritten again. */
    public Operand unwrite() {
        long[] bits = new long[(int) memory.elementCount()];
        Arrays.fill(bits, UNWRITTEN);
        ElementAccess.into(memory, bits);
        return this;
    }

    /** Returns a part of this operand, which shares the memory of this operand. */
    Operand part(long from, long count) {
        return new Operand(kind, memory, tensor.slice(from, count));
    }

    /** Returns a view of {@code count} elements from an index on. */
    public HostTensor cut(long from, long count) {
        return (HostTensor) again(tensor.slice(from, count));
    }

    /** Returns another tensor with the same elements as a tensor of this memory; null for null. */
    Tensor again(Tensor part) {
        if (part == null) {
            return null;
        }
        HostTensor view = ((HostTensor) part).slice(0, part.elementCount());
        return kind == OperandMemory.SEVERAL_BUFFERS ? HostTensor.of(view.dataType(), view.buffer()) : view;
    }

    /** Returns the tensor that has the elements. */
    public HostTensor tensor() {
        return tensor;
    }

    /** Returns the number of elements. */
    public int length() {
        return (int) tensor.elementCount();
    }

    /** Writes the bits of each element by its index. */
    public Operand fill(IntToLongFunction bitsByIndex) {
        ElementAccess.fill(tensor, bitsByIndex);
        return this;
    }

    Operand fill(long[] bits) {
        ElementAccess.into(tensor, bits);
        return this;
    }

    /** Returns the bits of all elements, sign-extended. */
    public long[] bits() {
        return ElementAccess.of(tensor);
    }

    /** Returns the bits of an unwritten element. */
    long unwrittenBits() {
        return ReferenceMath.narrow(tensor.dataType(), UNWRITTEN);
    }

    /** Returns whether every element has the pattern of unwritten memory. */
    public boolean isUnwritten() {
        return isUnwritten(tensor);
    }

    /** Returns whether no guard element was written. A part of an operand has the guards of the full operand. */
    public boolean guardsHold() {
        int guard = kind.guard();
        return isUnwritten(memory.slice(0, guard)) && isUnwritten(memory.slice(memory.elementCount() - guard, guard));
    }

    private static boolean isUnwritten(HostTensor elements) {
        long unwritten = ReferenceMath.narrow(elements.dataType(), UNWRITTEN);
        return Arrays.stream(ElementAccess.of(elements)).allMatch(found -> found == unwritten);
    }
}
