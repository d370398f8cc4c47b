package ferro;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

/**
 * The Java type that holds elements, such as {@code int} for i32 and u32, or {@code short} for the bits of f16. This
 * class creates all arrays and typed views of a carrier, and makes all bulk copies between arrays and buffers.
 *
 * <p>{@link DataType#carrier} returns the carrier of an element type. An array is passed as Object and must be of class
 * {@link #arrayClass}; any other array causes a ClassCastException. Copies respect the limit of a buffer, and neither
 * read nor change its position. Any thread may call the methods.
 */
public enum Carrier {
    /** Carries f32. */
    FLOAT(float[].class, Float.BYTES) {
        @Override
        public Object newArray(int count) {
            return new float[count];
        }

        @Override
        public Buffer view(ByteBuffer bytes) {
            return bytes.asFloatBuffer();
        }

        @Override
        public void put(Buffer view, int at, Object array, int from, int count) {
            ((FloatBuffer) view).put(at, (float[]) array, from, count);
        }

        @Override
        public void get(Buffer view, int at, Object array, int to, int count) {
            ((FloatBuffer) view).get(at, (float[]) array, to, count);
        }

        @Override
        public void write(ByteBuffer bytes, int offset, Object array, int from, int count) {
            run(bytes, offset, count * Float.BYTES).asFloatBuffer().put((float[]) array, from, count);
        }

        @Override
        public void read(ByteBuffer bytes, int offset, Object array, int to, int count) {
            run(bytes, offset, count * Float.BYTES).asFloatBuffer().get((float[]) array, to, count);
        }
    },
    /** Carries f64. */
    DOUBLE(double[].class, Double.BYTES) {
        @Override
        public Object newArray(int count) {
            return new double[count];
        }

        @Override
        public Buffer view(ByteBuffer bytes) {
            return bytes.asDoubleBuffer();
        }

        @Override
        public void put(Buffer view, int at, Object array, int from, int count) {
            ((DoubleBuffer) view).put(at, (double[]) array, from, count);
        }

        @Override
        public void get(Buffer view, int at, Object array, int to, int count) {
            ((DoubleBuffer) view).get(at, (double[]) array, to, count);
        }

        @Override
        public void write(ByteBuffer bytes, int offset, Object array, int from, int count) {
            run(bytes, offset, count * Double.BYTES).asDoubleBuffer().put((double[]) array, from, count);
        }

        @Override
        public void read(ByteBuffer bytes, int offset, Object array, int to, int count) {
            run(bytes, offset, count * Double.BYTES).asDoubleBuffer().get((double[]) array, to, count);
        }
    },
    /** Carries i32 and u32. */
    INT(int[].class, Integer.BYTES) {
        @Override
        public Object newArray(int count) {
            return new int[count];
        }

        @Override
        public Buffer view(ByteBuffer bytes) {
            return bytes.asIntBuffer();
        }

        @Override
        public void put(Buffer view, int at, Object array, int from, int count) {
            ((IntBuffer) view).put(at, (int[]) array, from, count);
        }

        @Override
        public void get(Buffer view, int at, Object array, int to, int count) {
            ((IntBuffer) view).get(at, (int[]) array, to, count);
        }

        @Override
        public void write(ByteBuffer bytes, int offset, Object array, int from, int count) {
            run(bytes, offset, count * Integer.BYTES).asIntBuffer().put((int[]) array, from, count);
        }

        @Override
        public void read(ByteBuffer bytes, int offset, Object array, int to, int count) {
            run(bytes, offset, count * Integer.BYTES).asIntBuffer().get((int[]) array, to, count);
        }
    },
    /** Carries i64 and u64. */
    LONG(long[].class, Long.BYTES) {
        @Override
        public Object newArray(int count) {
            return new long[count];
        }

        @Override
        public Buffer view(ByteBuffer bytes) {
            return bytes.asLongBuffer();
        }

        @Override
        public void put(Buffer view, int at, Object array, int from, int count) {
            ((LongBuffer) view).put(at, (long[]) array, from, count);
        }

        @Override
        public void get(Buffer view, int at, Object array, int to, int count) {
            ((LongBuffer) view).get(at, (long[]) array, to, count);
        }

        @Override
        public void write(ByteBuffer bytes, int offset, Object array, int from, int count) {
            run(bytes, offset, count * Long.BYTES).asLongBuffer().put((long[]) array, from, count);
        }

        @Override
        public void read(ByteBuffer bytes, int offset, Object array, int to, int count) {
            run(bytes, offset, count * Long.BYTES).asLongBuffer().get((long[]) array, to, count);
        }
    },
    /** Carries i16 and u16, and the bits of f16 and bf16. */
    SHORT(short[].class, Short.BYTES) {
        @Override
        public Object newArray(int count) {
            return new short[count];
        }

        @Override
        public Buffer view(ByteBuffer bytes) {
            return bytes.asShortBuffer();
        }

        @Override
        public void put(Buffer view, int at, Object array, int from, int count) {
            ((ShortBuffer) view).put(at, (short[]) array, from, count);
        }

        @Override
        public void get(Buffer view, int at, Object array, int to, int count) {
            ((ShortBuffer) view).get(at, (short[]) array, to, count);
        }

        @Override
        public void write(ByteBuffer bytes, int offset, Object array, int from, int count) {
            run(bytes, offset, count * Short.BYTES).asShortBuffer().put((short[]) array, from, count);
        }

        @Override
        public void read(ByteBuffer bytes, int offset, Object array, int to, int count) {
            run(bytes, offset, count * Short.BYTES).asShortBuffer().get((short[]) array, to, count);
        }
    },
    /** Carries i8 and u8. */
    BYTE(byte[].class, Byte.BYTES) {
        @Override
        public Object newArray(int count) {
            return new byte[count];
        }

        @Override
        public Buffer view(ByteBuffer bytes) {
            return bytes.slice().order(bytes.order());
        }

        @Override
        public void put(Buffer view, int at, Object array, int from, int count) {
            ((ByteBuffer) view).put(at, (byte[]) array, from, count);
        }

        @Override
        public void get(Buffer view, int at, Object array, int to, int count) {
            ((ByteBuffer) view).get(at, (byte[]) array, to, count);
        }

        @Override
        public void write(ByteBuffer bytes, int offset, Object array, int from, int count) {
            bytes.put(offset, (byte[]) array, from, count);
        }

        @Override
        public void read(ByteBuffer bytes, int offset, Object array, int to, int count) {
            bytes.get(offset, (byte[]) array, to, count);
        }
    };

    private final Class<?> arrayClass;
    private final String arrayName;
    private final int byteSize;

    Carrier(Class<?> arrayClass, int byteSize) {
        this.arrayClass = arrayClass;
        this.arrayName = arrayClass.getSimpleName();
        this.byteSize = byteSize;
    }

    /**
     * Creates an array of zeros.
     *
     * @param count elements
     * @return for example {@code new float[count]}
     * @throws NegativeArraySizeException if the count is negative
     */
    public abstract Object newArray(int count);

    /**
     * Creates a typed view of a buffer from its position to its limit, in the byte order of the buffer.
     *
     * @param bytes buffer, not changed
     * @return for example {@code bytes.asFloatBuffer()}; for {@link #BYTE} a slice
     */
    public abstract Buffer view(ByteBuffer bytes);

    /**
     * Copies elements from an array to a view. Allocates nothing.
     *
     * @param view  view that {@link #view} created
     * @param at    first element in the view, counted from its index 0 and not from its position
     * @param array source
     * @param from  first element in the array
     * @param count elements
     * @throws IndexOutOfBoundsException if the range of the array or of the other memory exceeds its bounds; nothing is
     *     copied then
     */
    public abstract void put(Buffer view, int at, Object array, int from, int count);

    /**
     * Copies elements from a view to an array. Allocates nothing.
     *
     * @param view  view that {@link #view} created
     * @param at    first element in the view, counted from its index 0 and not from its position
     * @param array destination
     * @param to    first element in the array
     * @param count elements
     * @throws IndexOutOfBoundsException if the range of the array or of the other memory exceeds its bounds; nothing is
     *     copied then
     */
    public abstract void get(Buffer view, int at, Object array, int to, int count);

    /**
     * Copies elements from an array to a buffer, in the byte order of the buffer. Except for {@link #BYTE}, each call
     * allocates a view of a few dozen bytes, which the JIT compiler may optimise away. For repeated copies, keep one
     * view and use {@link #put}.
     *
     * @param bytes  destination; its position is ignored
     * @param offset first byte in the buffer; need not be aligned
     * @param array  source
     * @param from   first element in the array
     * @param count  elements
     * @throws IndexOutOfBoundsException if the range of the array or of the other memory exceeds its bounds; nothing is
     *     copied then
     */
    public abstract void write(ByteBuffer bytes, int offset, Object array, int from, int count);

    /**
     * Copies elements from a buffer to an array, in the byte order of the buffer.
     *
     * @param bytes  source; its position is ignored
     * @param offset first byte in the buffer; need not be aligned
     * @param array  destination
     * @param to     first element in the array
     * @param count  elements
     * @throws IndexOutOfBoundsException if the range of the array or of the other memory exceeds its bounds; nothing is
     *     copied then
     */
    public abstract void read(ByteBuffer bytes, int offset, Object array, int to, int count);

    /**
     * Returns the class of the arrays.
     *
     * @return for example {@code float[].class}
     */
    public Class<?> arrayClass() {
        return arrayClass;
    }

    /**
     * Returns the name of the arrays for messages.
     *
     * @return for example {@code float[]}
     */
    public String arrayName() {
        return arrayName;
    }

    /**
     * Returns the class of one element.
     *
     * @return for example {@code float.class}
     */
    public Class<?> elementClass() {
        return arrayClass.getComponentType();
    }

    /**
     * Returns the size of one element.
     *
     * @return bytes, a power of two
     */
    public int byteSize() {
        return byteSize;
    }

    private static ByteBuffer run(ByteBuffer bytes, int offset, int length) {
        return bytes.slice(offset, length).order(bytes.order());
    }
}
