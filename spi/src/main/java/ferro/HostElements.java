package ferro;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * The elements of a {@link HostTensor}, one by one and in bulk, read and written in the same way whether they lie in an array or in a
 * direct buffer.
 *
 * <p>Each form takes one Java type, and the element types that it carries; another is refused. Nothing here allocates but the bulk
 * forms on a direct buffer, which make a view of it (a few dozen bytes, which the JIT compiler may remove). Any thread may call; who
 * writes while others read is the caller's affair.
 */
abstract sealed class HostElements permits HostTensor {
    final DataType dataType;
    final Object memory;
    /** Arrays and buffers end at 2 GiB: ints make every call's views a quarter smaller. */
    final int offset;

    final int elementCount;

    HostElements(DataType dataType, Object memory, int offset, int elementCount) {
        this.dataType = dataType;
        this.memory = memory;
        this.offset = offset;
        this.elementCount = elementCount;
    }

    /**
     * Reads an element of f32.
     *
     * @param index which one, counted from the start of this view
     * @return element
     * @throws IllegalArgumentException  if the elements are of another type; the text says which accessor reads them
     * @throws IndexOutOfBoundsException if there is no such element
     */
    public final float getFloat(long index) {
        return memory instanceof float[] array
                ? array[element(index)]
                : bytes(float.class).getFloat(place(index));
    }

    /**
     * Writes an element of f32.
     *
     * @param index which one, counted from the start of this view
     * @param value element
     * @throws IllegalArgumentException  if the elements are of another type; the text says which accessor writes them
     * @throws IndexOutOfBoundsException if there is no such element
     */
    public final void setFloat(long index, float value) {
        if (memory instanceof float[] array) {
            array[element(index)] = value;
        } else {
            bytes(float.class).putFloat(place(index), value);
        }
    }

    /**
     * Copies elements of f32 to an array.
     *
     * @param from  first element here, counted from the start of this view
     * @param into  array; may be the one that this is a view of
     * @param at    first element there
     * @param count elements
     * @throws IllegalArgumentException  if the elements are of another type; the text says which array takes them
     * @throws IndexOutOfBoundsException if either run is not inside its memory; nothing is copied then
     */
    public final void copyTo(long from, float[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        if (memory instanceof float[] array) {
            System.arraycopy(array, offset + first(from, count), into, at, count);
        } else {
            bytes(float.class, from, count).asFloatBuffer().get(into, at, count);
        }
    }

    /**
     * Copies elements of f32 from an array.
     *
     * @param to     first element here, counted from the start of this view
     * @param source array; may be the one that this is a view of
     * @param at     first element there
     * @param count  elements
     * @throws IllegalArgumentException  if the elements are of another type; the text says which array has them
     * @throws IndexOutOfBoundsException if either run is not inside its memory; nothing is copied then
     */
    public final void copyFrom(long to, float[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        if (memory instanceof float[] array) {
            System.arraycopy(source, at, array, offset + first(to, count), count);
        } else {
            bytes(float.class, to, count).asFloatBuffer().put(source, at, count);
        }
    }

    /** See {@link HostTensor#getFloat(long)}; of f64. */
    public final double getDouble(long index) {
        return memory instanceof double[] array
                ? array[element(index)]
                : bytes(double.class).getDouble(place(index));
    }

    /** See {@link HostTensor#setFloat(long, float)}; of f64. */
    public final void setDouble(long index, double value) {
        if (memory instanceof double[] array) {
            array[element(index)] = value;
        } else {
            bytes(double.class).putDouble(place(index), value);
        }
    }

    /** See {@link HostTensor#copyTo(long, float[], int, int)}; of f64. */
    public final void copyTo(long from, double[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        if (memory instanceof double[] array) {
            System.arraycopy(array, offset + first(from, count), into, at, count);
        } else {
            bytes(double.class, from, count).asDoubleBuffer().get(into, at, count);
        }
    }

    /** See {@link HostTensor#copyFrom(long, float[], int, int)}; of f64. */
    public final void copyFrom(long to, double[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        if (memory instanceof double[] array) {
            System.arraycopy(source, at, array, offset + first(to, count), count);
        } else {
            bytes(double.class, to, count).asDoubleBuffer().put(source, at, count);
        }
    }

    /** See {@link HostTensor#getFloat(long)}; of i32 or u32. */
    public final int getInt(long index) {
        return memory instanceof int[] array
                ? array[element(index)]
                : bytes(int.class).getInt(place(index));
    }

    /** See {@link HostTensor#setFloat(long, float)}; of i32 or u32. */
    public final void setInt(long index, int value) {
        if (memory instanceof int[] array) {
            array[element(index)] = value;
        } else {
            bytes(int.class).putInt(place(index), value);
        }
    }

    /** See {@link HostTensor#copyTo(long, float[], int, int)}; of i32 or u32. */
    public final void copyTo(long from, int[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        if (memory instanceof int[] array) {
            System.arraycopy(array, offset + first(from, count), into, at, count);
        } else {
            bytes(int.class, from, count).asIntBuffer().get(into, at, count);
        }
    }

    /** See {@link HostTensor#copyFrom(long, float[], int, int)}; of i32 or u32. */
    public final void copyFrom(long to, int[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        if (memory instanceof int[] array) {
            System.arraycopy(source, at, array, offset + first(to, count), count);
        } else {
            bytes(int.class, to, count).asIntBuffer().put(source, at, count);
        }
    }

    /** See {@link HostTensor#getFloat(long)}; of i64 or u64. */
    public final long getLong(long index) {
        return memory instanceof long[] array
                ? array[element(index)]
                : bytes(long.class).getLong(place(index));
    }

    /** See {@link HostTensor#setFloat(long, float)}; of i64 or u64. */
    public final void setLong(long index, long value) {
        if (memory instanceof long[] array) {
            array[element(index)] = value;
        } else {
            bytes(long.class).putLong(place(index), value);
        }
    }

    /** See {@link HostTensor#copyTo(long, float[], int, int)}; of i64 or u64. */
    public final void copyTo(long from, long[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        if (memory instanceof long[] array) {
            System.arraycopy(array, offset + first(from, count), into, at, count);
        } else {
            bytes(long.class, from, count).asLongBuffer().get(into, at, count);
        }
    }

    /** See {@link HostTensor#copyFrom(long, float[], int, int)}; of i64 or u64. */
    public final void copyFrom(long to, long[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        if (memory instanceof long[] array) {
            System.arraycopy(source, at, array, offset + first(to, count), count);
        } else {
            bytes(long.class, to, count).asLongBuffer().put(source, at, count);
        }
    }

    /** See {@link HostTensor#getFloat(long)}; of i16, or the bits of f16 or bf16. */
    public final short getShort(long index) {
        return memory instanceof short[] array
                ? array[element(index)]
                : bytes(short.class).getShort(place(index));
    }

    /** See {@link HostTensor#setFloat(long, float)}; of i16, or the bits of f16 or bf16. */
    public final void setShort(long index, short value) {
        if (memory instanceof short[] array) {
            array[element(index)] = value;
        } else {
            bytes(short.class).putShort(place(index), value);
        }
    }

    /** See {@link HostTensor#copyTo(long, float[], int, int)}; of i16, or the bits of f16 or bf16. */
    public final void copyTo(long from, short[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        if (memory instanceof short[] array) {
            System.arraycopy(array, offset + first(from, count), into, at, count);
        } else {
            bytes(short.class, from, count).asShortBuffer().get(into, at, count);
        }
    }

    /** See {@link HostTensor#copyFrom(long, float[], int, int)}; of i16, or the bits of f16 or bf16. */
    public final void copyFrom(long to, short[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        if (memory instanceof short[] array) {
            System.arraycopy(source, at, array, offset + first(to, count), count);
        } else {
            bytes(short.class, to, count).asShortBuffer().put(source, at, count);
        }
    }

    /** See {@link HostTensor#getFloat(long)}; of i8 or u8. */
    public final byte getByte(long index) {
        return memory instanceof byte[] array
                ? array[element(index)]
                : bytes(byte.class).get(place(index));
    }

    /** See {@link HostTensor#setFloat(long, float)}; of i8 or u8. */
    public final void setByte(long index, byte value) {
        if (memory instanceof byte[] array) {
            array[element(index)] = value;
        } else {
            bytes(byte.class).put(place(index), value);
        }
    }

    /** See {@link HostTensor#copyTo(long, float[], int, int)}; of i8 or u8. */
    public final void copyTo(long from, byte[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        if (memory instanceof byte[] array) {
            System.arraycopy(array, offset + first(from, count), into, at, count);
        } else {
            bytes(byte.class, from, count).get(into, at, count);
        }
    }

    /** See {@link HostTensor#copyFrom(long, float[], int, int)}; of i8 or u8. */
    public final void copyFrom(long to, byte[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        if (memory instanceof byte[] array) {
            System.arraycopy(source, at, array, offset + first(to, count), count);
        } else {
            bytes(byte.class, to, count).put(source, at, count);
        }
    }

    /**
     * Copies elements of a tensor of the same type, unchanged; right also where both runs overlap in one memory.
     *
     * @param to     first element here, counted from the start of this view
     * @param source where from
     * @param from   first element there, counted from the start of that view
     * @param count  elements
     * @throws IllegalArgumentException  if the types differ
     * @throws IndexOutOfBoundsException if either run is not inside its view; nothing is copied then
     */
    public final void copyFrom(long to, HostTensor source, long from, long count) {
        HostElements given = Objects.requireNonNull(source, "source");
        if (given.dataType != dataType) {
            throw new IllegalArgumentException("copy from " + given + " to " + this + ": need one element type");
        }
        int intoFirst = first(to, count);
        int givenFirst = given.first(from, count);
        int length = (int) count;
        boolean isDirect = memory instanceof ByteBuffer;
        if (isDirect && given.memory instanceof ByteBuffer bytes) {
            int unit = dataType.byteSize();
            int givenAt = given.offset + givenFirst * unit;
            ((ByteBuffer) memory).put(offset + intoFirst * unit, bytes, givenAt, length * unit);
        } else if (isDirect) {
            write(to, given.memory, given.offset + givenFirst, length);
        } else if (given.memory instanceof ByteBuffer) {
            given.read(from, memory, offset + intoFirst, length);
        } else {
            System.arraycopy(given.memory, given.offset + givenFirst, memory, offset + intoFirst, length);
        }
    }

    /** As {@code copyTo}, for any array that carries the type. */
    final void read(long from, Object array, int at, int count) {
        if (array instanceof float[] floats) {
            copyTo(from, floats, at, count);
        } else if (array instanceof double[] doubles) {
            copyTo(from, doubles, at, count);
        } else if (array instanceof int[] ints) {
            copyTo(from, ints, at, count);
        } else if (array instanceof long[] longs) {
            copyTo(from, longs, at, count);
        } else if (array instanceof short[] shorts) {
            copyTo(from, shorts, at, count);
        } else {
            copyTo(from, (byte[]) array, at, count);
        }
    }

    /** As {@code copyFrom}, for any array that carries the type. */
    final void write(long to, Object array, int at, int count) {
        if (array instanceof float[] floats) {
            copyFrom(to, floats, at, count);
        } else if (array instanceof double[] doubles) {
            copyFrom(to, doubles, at, count);
        } else if (array instanceof int[] ints) {
            copyFrom(to, ints, at, count);
        } else if (array instanceof long[] longs) {
            copyFrom(to, longs, at, count);
        } else if (array instanceof short[] shorts) {
            copyFrom(to, shorts, at, count);
        } else {
            copyFrom(to, (byte[]) array, at, count);
        }
    }

    /** Returns the Java type that carries elements of a type, for example {@code int} for u32. */
    static Class<?> carrier(DataType type) {
        return switch (type) {
            case INT8, UINT8 -> byte.class;
            case INT16, FLOAT16, BFLOAT16 -> short.class;
            case INT32, UINT32 -> int.class;
            case INT64, UINT64 -> long.class;
            case FLOAT32 -> float.class;
            case FLOAT64 -> double.class;
        };
    }

    /** Returns the direct buffer, once its elements are of this Java type. */
    private ByteBuffer bytes(Class<?> type) {
        Class<?> mine = carrier(dataType);
        if (mine != type) {
            String accessor = Character.toUpperCase(mine.getName().charAt(0))
                    + mine.getName().substring(1);
            throw new IllegalArgumentException(this + " has elements that are read and written as " + mine + ", not as "
                    + type + ": use get" + accessor + ", set" + accessor + ", or copies with " + mine + "[]");
        }
        return (ByteBuffer) memory;
    }

    /** Returns the bytes of a run. */
    private ByteBuffer bytes(Class<?> type, long from, long count) {
        ByteBuffer whole = bytes(type).duplicate().clear();
        int unit = dataType.byteSize();
        return whole.slice(offset + first(from, count) * unit, (int) count * unit)
                .order(ByteOrder.nativeOrder());
    }

    /** Returns where an element lies in the array. */
    private int element(long index) {
        return offset + checked(index);
    }

    /** Returns where an element lies in the buffer. */
    private int place(long index) {
        return offset + checked(index) * dataType.byteSize();
    }

    private int checked(long index) {
        if (index < 0 || index >= elementCount) {
            throw new IndexOutOfBoundsException(
                    "element " + index + " of " + this + ": need 0 to below " + elementCount);
        }
        return (int) index;
    }

    /** Returns the first of so many elements, if there are so many. */
    private int first(long from, long count) {
        // no sum: it might wrap
        if (from < 0 || count < 0 || from > elementCount || count > elementCount - from) {
            throw new IndexOutOfBoundsException(count + " elements from " + from + " on of " + this
                    + ": need a part of 0 to below " + elementCount);
        }
        return (int) from;
    }
}
