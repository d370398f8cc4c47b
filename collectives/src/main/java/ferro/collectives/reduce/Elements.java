package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

/** Moves and divides runs of elements; offsets are elements for an array and bytes for a buffer. Any thread may call. */
public final class Elements {
    /** A loop that always counts this far is vectorised, whatever lengths came first: see {@link BlockKernel}. */
    private static final int BLOCK = 512;

    private Elements() {}

    /**
     * Copies elements unchanged; right also where both runs overlap in one array or buffer.
     *
     * <p>Allocates nothing between two arrays, two buffers, or a {@code byte[]} and a buffer; a typed view (a few dozen
     * bytes, which the JIT compiler may remove) between another array and a buffer.
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
                write(view(type, bytes, to, length), 0, source, from, length);
            }
        } else if (source instanceof ByteBuffer bytes) {
            read(view(type, bytes, from, length), 0, into, to, length);
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
        int from = Math.toIntExact(offset);
        switch (type) {
            case FLOAT32 -> divideFloats(memory, from, Math.toIntExact(count), divisor);
            case FLOAT64 -> divideDoubles(memory, from, Math.toIntExact(count), divisor);
            case FLOAT16, BFLOAT16 -> divideHalves(type, memory, from, Math.toIntExact(count), divisor);
            case INT8, UINT8, INT16, INT32, UINT32, INT64, UINT64 ->
                throw new IllegalArgumentException(
                        "divide of " + type.label() + ": a sum of integers may have wrapped, use WholeSums");
        }
    }

    /** Returns a new array that carries a type. */
    static Object array(DataType type, int count) {
        return switch (type) {
            case FLOAT32 -> new float[count];
            case FLOAT64 -> new double[count];
            case INT32, UINT32 -> new int[count];
            case INT64, UINT64 -> new long[count];
            case INT16, FLOAT16, BFLOAT16 -> new short[count];
            case INT8, UINT8 -> new byte[count];
        };
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

    /** Returns a view of exactly these elements; bytes need none. */
    private static Buffer view(DataType type, ByteBuffer bytes, int offset, int length) {
        return Views.typed(type, bytes.slice(offset, length * type.byteSize()));
    }

    static void write(Buffer view, int at, Object source, int from, int length) {
        if (source instanceof float[] array) {
            ((FloatBuffer) view).put(at, array, from, length);
        } else if (source instanceof double[] array) {
            ((DoubleBuffer) view).put(at, array, from, length);
        } else if (source instanceof int[] array) {
            ((IntBuffer) view).put(at, array, from, length);
        } else if (source instanceof long[] array) {
            ((LongBuffer) view).put(at, array, from, length);
        } else if (source instanceof short[] array) {
            ((ShortBuffer) view).put(at, array, from, length);
        } else {
            ((ByteBuffer) view).put(at, (byte[]) source, from, length);
        }
    }

    static void read(Buffer view, int at, Object into, int to, int length) {
        if (into instanceof float[] array) {
            ((FloatBuffer) view).get(at, array, to, length);
        } else if (into instanceof double[] array) {
            ((DoubleBuffer) view).get(at, array, to, length);
        } else if (into instanceof int[] array) {
            ((IntBuffer) view).get(at, array, to, length);
        } else if (into instanceof long[] array) {
            ((LongBuffer) view).get(at, array, to, length);
        } else if (into instanceof short[] array) {
            ((ShortBuffer) view).get(at, array, to, length);
        } else {
            ((ByteBuffer) view).get(at, (byte[]) into, to, length);
        }
    }
}
