package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;

/** Moves and divides runs of elements; offsets are elements for an array and bytes for a buffer. Any thread may call. */
public final class Elements {
    /** A loop that always counts this far is vectorised, whatever lengths came first: see {@link BlockKernel}. */
    private static final int BLOCK = 512;

    private Elements() {}

    /**
     * Copies elements unchanged; right also where both runs overlap in one array or buffer.
     *
     * <p>Allocates nothing between two arrays, two buffers, or a {@code byte[]} and a buffer; between another array and a
     * buffer, of more than a few elements, a typed view (a few dozen bytes, which the JIT compiler may remove).
     *
     * @param type         element type
     * @param into         array of the type or direct buffer in native order
     * @param intoOffset   where to
     * @param source       as {@code into}
     * @param sourceOffset where from
     * @param count        elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     */
    public static void copy(DataType type, Object into, long intoOffset, Object source, long sourceOffset, long count) {
        if (count == 0) {
            return;
        }
        int length = Math.toIntExact(count);
        int to = Math.toIntExact(intoOffset);
        int from = Math.toIntExact(sourceOffset);
        if (into instanceof ByteBuffer bytes) {
            if (source instanceof ByteBuffer other) {
                bytes.put(to, other, from, length * type.byteSize());
            } else {
                type.carrier().write(bytes, to, source, from, length);
            }
        } else if (source instanceof ByteBuffer bytes) {
            type.carrier().read(bytes, from, into, to, length);
        } else {
            System.arraycopy(source, from, into, to, length);
        }
    }

    /**
     * Returns where an element of a tensor lies in its memory, as {@link #copy} and {@link Kernel#combine} want it.
     *
     * @param tensor  view
     * @param element which one, counted from the start of the view
     * @return elements for an array, bytes for a buffer
     */
    public static long at(HostTensor tensor, long element) {
        long unit = tensor.memory() instanceof ByteBuffer ? tensor.dataType().byteSize() : 1;
        return tensor.offset() + element * unit;
    }

    /**
     * Divides elements in place, f16 and bf16 in f32 and rounded once: the second half of AVG of floats.
     *
     * @param type    element type, a floating-point one: an average of integers is divided by {@link WholeSums}
     * @param memory  array of the type or direct buffer in native order
     * @param offset  first element
     * @param count   elements
     * @param divisor by what
     * @throws IllegalArgumentException if the type is an integer one
     */
    public static void divide(DataType type, Object memory, long offset, long count, long divisor) {
        if (!type.isFloating()) {
            throw new IllegalArgumentException(
                    "divide of " + type.label() + ": a sum of integers may have wrapped, use WholeSums");
        }
        int from = Math.toIntExact(offset);
        int length = Math.toIntExact(count);
        switch (type.carrier()) {
            case FLOAT -> divideFloats(memory, from, length, divisor);
            case DOUBLE -> divideDoubles(memory, from, length, divisor);
            default -> divideHalves(type, memory, from, length, divisor);
        }
    }

    private static void divideFloats(Object memory, int from, int count, float divisor) {
        if (memory instanceof float[] array) {
            int blocksEnd = from + count / BLOCK * BLOCK;
            for (int at = from; at < blocksEnd; at += BLOCK) {
                divideBlock(array, at, divisor);
            }
            for (int at = blocksEnd; at < from + count; at++) {
                array[at] /= divisor;
            }
        } else {
            ByteBuffer bytes = (ByteBuffer) memory;
            for (int at = from; at < from + 4 * count; at += 4) {
                bytes.putFloat(at, bytes.getFloat(at) / divisor);
            }
        }
    }

    private static void divideBlock(float[] array, int from, float divisor) {
        for (int at = from; at < from + BLOCK; at++) {
            array[at] /= divisor;
        }
    }

    private static void divideDoubles(Object memory, int from, int count, double divisor) {
        if (memory instanceof double[] array) {
            int blocksEnd = from + count / BLOCK * BLOCK;
            for (int at = from; at < blocksEnd; at += BLOCK) {
                divideBlock(array, at, divisor);
            }
            for (int at = blocksEnd; at < from + count; at++) {
                array[at] /= divisor;
            }
        } else {
            ByteBuffer bytes = (ByteBuffer) memory;
            for (int at = from; at < from + 8 * count; at += 8) {
                bytes.putDouble(at, bytes.getDouble(at) / divisor);
            }
        }
    }

    private static void divideBlock(double[] array, int from, double divisor) {
        for (int at = from; at < from + BLOCK; at++) {
            array[at] /= divisor;
        }
    }

    private static void divideHalves(DataType type, Object memory, int from, int count, float divisor) {
        if (memory instanceof short[] array) {
            for (int at = from; at < from + count; at++) {
                array[at] = HalfFloats.narrow(type, HalfFloats.widen(type, array[at]) / divisor);
            }
        } else {
            ByteBuffer bytes = (ByteBuffer) memory;
            for (int at = from; at < from + 2 * count; at += 2) {
                bytes.putShort(at, HalfFloats.narrow(type, HalfFloats.widen(type, bytes.getShort(at)) / divisor));
            }
        }
    }
}
