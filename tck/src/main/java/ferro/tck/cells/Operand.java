package ferro.tck.cells;

import ferro.DataType;
import ferro.HostTensor;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/** The elements of a call in any kind of memory. Guard elements are on both sides, except in a full array. */
public final class Operand {
    /** Value of every unwritten element. */
    private static final long UNWRITTEN = 0x6B6B6B6B6B6B6B6BL;

    /** Number of guard elements on each side. */
    static final int GUARD = 5;

    private final HostTensor memory;
    private final int guard;
    private final HostTensor tensor;

    private Operand(HostTensor memory, int guard, HostTensor tensor) {
        this.memory = memory;
        this.guard = guard;
        this.tensor = tensor;
    }

    /** The kind of memory of the elements. Ranks of one call use different kinds. */
    public enum OperandMemory {
        /** A full array. */
        ARRAY,
        /** The middle of an array. */
        PART_OF_ARRAY,
        /** The middle of a direct buffer. */
        DIRECT_BUFFER,
        /** The middle of memory that its owner may free ({@link ferro.ForeignMemory}). */
        FOREIGN;

        /** Returns the kind of memory for a number. Consecutive numbers give different kinds. */
        public static OperandMemory of(int number) {
            return values()[number % values().length];
        }
    }

    /** Creates an operand of unwritten elements. */
    public static Operand unwritten(DataType type, int length, OperandMemory placement) {
        int guard = placement == OperandMemory.ARRAY ? 0 : GUARD;
        int all = length + 2 * guard;
        HostTensor memory = switch (placement) {
            case DIRECT_BUFFER -> HostTensor.allocate(type, all);
            case FOREIGN -> HeldBytes.tensor(type, all);
            default -> HostTensor.ofArray(type, type.carrier().newArray(all), 0, all);
        };
        return new Operand(memory, guard, memory.slice(guard, length)).unwrite();
    }

    /** Returns all elements of a memory as an operand, except for guard elements on both sides. */
    static Operand in(HostTensor memory) {
        return new Operand(memory, GUARD, memory.slice(GUARD, memory.elementCount() - 2 * GUARD)).unwrite();
    }

    /** Makes every element unwritten again. */
    public Operand unwrite() {
        long[] bits = new long[(int) memory.elementCount()];
        Arrays.fill(bits, UNWRITTEN);
        Bits.into(memory, bits);
        return this;
    }

    /** Returns a part of this operand, which shares its memory. */
    Operand part(long from, long count) {
        return new Operand(memory, guard, tensor.slice(from, count));
    }

    /** Returns the tensor. */
    public HostTensor tensor() {
        return tensor;
    }

    /** Returns the number of elements. */
    public int length() {
        return (int) tensor.elementCount();
    }

    /** Writes the bits of each element by its index. */
    public Operand fill(IntToLongFunction bitsByIndex) {
        Bits.fill(tensor, bitsByIndex);
        return this;
    }

    Operand fill(long[] bits) {
        Bits.into(tensor, bits);
        return this;
    }

    /** Returns the bits of all elements, sign-extended. */
    public long[] bits() {
        return Bits.of(tensor);
    }

    /** Returns the bits of an unwritten element. */
    long unwrittenBits() {
        return Numbers.narrow(tensor.dataType(), UNWRITTEN);
    }

    /** Returns whether every element has the pattern of unwritten memory. */
    public boolean isUnwritten() {
        return isUnwritten(tensor);
    }

    /** Returns whether no guard element was written. A part has the guards of the operand that contains the part. */
    public boolean guardsHold() {
        return guard == 0
                || isUnwritten(memory.slice(0, guard))
                        && isUnwritten(memory.slice(memory.elementCount() - guard, guard));
    }

    private static boolean isUnwritten(HostTensor elements) {
        long unwritten = Numbers.narrow(elements.dataType(), UNWRITTEN);
        for (long found : Bits.of(elements)) {
            if (found != unwritten) {
                return false;
            }
        }
        return true;
    }
}
