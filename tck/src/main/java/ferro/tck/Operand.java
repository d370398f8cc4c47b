package ferro.tck;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.LongUnaryOperator;

/** Elements of a call in any kind of memory, with guards on both sides where the memory allows it. */
final class Operand {
    /** What every element holds that nobody has written. */
    private static final long UNWRITTEN = 0x6B6B6B6B6B6B6B6BL;

    private static final int GUARD = 5;

    private final HostTensor memory;
    private final int guard;
    private final HostTensor tensor;

    private Operand(HostTensor memory, int guard, HostTensor tensor) {
        this.memory = memory;
        this.guard = guard;
        this.tensor = tensor;
    }

    /** Where elements live; ranks of one call use different ones. */
    enum Placement {
        /** A whole array. */
        ARRAY,
        /** The middle of an array. */
        PART_OF_ARRAY,
        /** The middle of a direct buffer. */
        DIRECT_BUFFER;

        static Placement of(int number) {
            return values()[number % values().length];
        }
    }

    /** Makes unwritten elements. */
    static Operand unwritten(DataType type, int length, Placement placement) {
        int guard = placement == Placement.ARRAY ? 0 : GUARD;
        HostTensor memory = placement == Placement.DIRECT_BUFFER
                ? direct(type, length + 2 * guard)
                : array(type, length + 2 * guard);
        Operand operand = new Operand(memory, guard, memory.slice(guard, length));
        for (int index = 0; index < memory.elementCount(); index++) {
            write(memory, index, UNWRITTEN);
        }
        return operand;
    }

    /** Returns a part that shares the memory. */
    Operand part(long from, long count) {
        return new Operand(memory, guard, tensor.slice(from, count));
    }

    HostTensor tensor() {
        return tensor;
    }

    int length() {
        return (int) tensor.elementCount();
    }

    Operand fill(LongUnaryOperator bitsByIndex) {
        for (int index = 0; index < length(); index++) {
            write(tensor, index, bitsByIndex.applyAsLong(index));
        }
        return this;
    }

    /** Returns an element's bits, sign-extended. */
    long bits(int index) {
        return read(tensor, index);
    }

    /** What an element holds that nobody has written. */
    long unwrittenBits() {
        return Numbers.narrow(tensor.dataType(), UNWRITTEN);
    }

    boolean isUnwritten() {
        return isUnwritten(tensor, 0, length());
    }

    /** Whether nothing outside was written; for a part: outside the operand it is a part of. */
    boolean guardsHold() {
        int end = (int) memory.elementCount();
        return isUnwritten(memory, 0, guard) && isUnwritten(memory, end - guard, end);
    }

    private static boolean isUnwritten(HostTensor elements, int from, int to) {
        for (int index = from; index < to; index++) {
            if (read(elements, index) != Numbers.narrow(elements.dataType(), UNWRITTEN)) {
                return false;
            }
        }
        return true;
    }

    private static HostTensor direct(DataType type, int length) {
        int bytes = length * type.byteSize();
        return HostTensor.of(type, ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder()));
    }

    private static HostTensor array(DataType type, int length) {
        return switch (type) {
            case FLOAT32 -> HostTensor.of(type, new float[length], 0, length);
            case FLOAT64 -> HostTensor.of(type, new double[length], 0, length);
            case INT32, UINT32 -> HostTensor.of(type, new int[length], 0, length);
            case INT64, UINT64 -> HostTensor.of(type, new long[length], 0, length);
            case INT16, FLOAT16, BFLOAT16 -> HostTensor.of(type, new short[length], 0, length);
            case INT8, UINT8 -> HostTensor.of(type, new byte[length], 0, length);
        };
    }

    /** Returns an element's bits, sign-extended. */
    static long read(HostTensor elements, int index) {
        if (elements.memory() instanceof ByteBuffer bytes) {
            int at = (int) elements.offset() + index * elements.dataType().byteSize();
            return switch (elements.dataType().byteSize()) {
                case 1 -> bytes.get(at);
                case 2 -> bytes.getShort(at);
                case 4 -> bytes.getInt(at);
                default -> bytes.getLong(at);
            };
        }
        int at = (int) elements.offset() + index;
        return switch (elements.dataType()) {
            case FLOAT32 -> Float.floatToRawIntBits(((float[]) elements.memory())[at]);
            case FLOAT64 -> Double.doubleToRawLongBits(((double[]) elements.memory())[at]);
            case INT32, UINT32 -> ((int[]) elements.memory())[at];
            case INT64, UINT64 -> ((long[]) elements.memory())[at];
            case INT16, FLOAT16, BFLOAT16 -> ((short[]) elements.memory())[at];
            case INT8, UINT8 -> ((byte[]) elements.memory())[at];
        };
    }

    static void write(HostTensor elements, int index, long bits) {
        if (elements.memory() instanceof ByteBuffer bytes) {
            int at = (int) elements.offset() + index * elements.dataType().byteSize();
            switch (elements.dataType().byteSize()) {
                case 1 -> bytes.put(at, (byte) bits);
                case 2 -> bytes.putShort(at, (short) bits);
                case 4 -> bytes.putInt(at, (int) bits);
                default -> bytes.putLong(at, bits);
            }
            return;
        }
        int at = (int) elements.offset() + index;
        switch (elements.dataType()) {
            case FLOAT32 -> ((float[]) elements.memory())[at] = Float.intBitsToFloat((int) bits);
            case FLOAT64 -> ((double[]) elements.memory())[at] = Double.longBitsToDouble(bits);
            case INT32, UINT32 -> ((int[]) elements.memory())[at] = (int) bits;
            case INT64, UINT64 -> ((long[]) elements.memory())[at] = bits;
            case INT16, FLOAT16, BFLOAT16 -> ((short[]) elements.memory())[at] = (short) bits;
            case INT8, UINT8 -> ((byte[]) elements.memory())[at] = (byte) bits;
        }
    }
}
