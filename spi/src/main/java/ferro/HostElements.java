package ferro;

import java.nio.ByteBuffer;

/**
 * Reads and writes the elements of a {@link HostTensor}. The methods work in the same way on an array and on a direct
 * buffer. This class accesses single elements; {@link ElementCopies} copies elements in bulk.
 *
 * <p>Each method reads or writes one Java type. A method accepts the element types that its Java type carries, and
 * throws an IllegalArgumentException for other element types. Only the bulk methods on a direct buffer allocate memory:
 * a view of a few dozen bytes, which the JIT compiler may optimise away. Any thread may call the methods. The caller
 * must order the writes and reads of several threads.
 */
abstract sealed class HostElements extends ElementCopies permits HostTensor {
    HostElements(DataType dataType, Object memory, long offset, long elementCount) {
        super(dataType, memory, offset, elementCount);
    }

    /**
     * Reads an element of f32.
     *
     * @param index index of the element, counted from the start of this view
     * @return value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final float getFloat(long index) {
        return memory instanceof float[] array
                ? array[element(index)]
                : bytes(Carrier.FLOAT, index).getFloat(place(index));
    }

    /**
     * Writes an element of f32.
     *
     * @param index index of the element, counted from the start of this view
     * @param value new value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final void setFloat(long index, float value) {
        if (memory instanceof float[] array) {
            array[element(index)] = value;
        } else {
            bytes(Carrier.FLOAT, index).putFloat(place(index), value);
        }
    }

    /**
     * Reads an element of f64.
     *
     * @param index index of the element, counted from the start of this view
     * @return value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final double getDouble(long index) {
        return memory instanceof double[] array
                ? array[element(index)]
                : bytes(Carrier.DOUBLE, index).getDouble(place(index));
    }

    /**
     * Writes an element of f64.
     *
     * @param index index of the element, counted from the start of this view
     * @param value new value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final void setDouble(long index, double value) {
        if (memory instanceof double[] array) {
            array[element(index)] = value;
        } else {
            bytes(Carrier.DOUBLE, index).putDouble(place(index), value);
        }
    }

    /**
     * Reads an element of i32 or u32.
     *
     * @param index index of the element, counted from the start of this view
     * @return value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final int getInt(long index) {
        return memory instanceof int[] array
                ? array[element(index)]
                : bytes(Carrier.INT, index).getInt(place(index));
    }

    /**
     * Writes an element of i32 or u32.
     *
     * @param index index of the element, counted from the start of this view
     * @param value new value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final void setInt(long index, int value) {
        if (memory instanceof int[] array) {
            array[element(index)] = value;
        } else {
            bytes(Carrier.INT, index).putInt(place(index), value);
        }
    }

    /**
     * Reads an element of i64 or u64.
     *
     * @param index index of the element, counted from the start of this view
     * @return value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final long getLong(long index) {
        return memory instanceof long[] array
                ? array[element(index)]
                : bytes(Carrier.LONG, index).getLong(place(index));
    }

    /**
     * Writes an element of i64 or u64.
     *
     * @param index index of the element, counted from the start of this view
     * @param value new value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final void setLong(long index, long value) {
        if (memory instanceof long[] array) {
            array[element(index)] = value;
        } else {
            bytes(Carrier.LONG, index).putLong(place(index), value);
        }
    }

    /**
     * Reads an element of i16 or u16, or the bits of f16 or bf16.
     *
     * @param index index of the element, counted from the start of this view
     * @return value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final short getShort(long index) {
        return memory instanceof short[] array
                ? array[element(index)]
                : bytes(Carrier.SHORT, index).getShort(place(index));
    }

    /**
     * Writes an element of i16 or u16, or the bits of f16 or bf16.
     *
     * @param index index of the element, counted from the start of this view
     * @param value new value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final void setShort(long index, short value) {
        if (memory instanceof short[] array) {
            array[element(index)] = value;
        } else {
            bytes(Carrier.SHORT, index).putShort(place(index), value);
        }
    }

    /**
     * Reads an element of i8 or u8.
     *
     * @param index index of the element, counted from the start of this view
     * @return value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final byte getByte(long index) {
        return memory instanceof byte[] array
                ? array[element(index)]
                : bytes(Carrier.BYTE, index).get(place(index));
    }

    /**
     * Writes an element of i8 or u8.
     *
     * @param index index of the element, counted from the start of this view
     * @param value new value of the element
     * @throws IllegalArgumentException  if the elements are of another type; the message names the accessors that fit
     * @throws IndexOutOfBoundsException if the index is negative or not below the number of elements
     */
    public final void setByte(long index, byte value) {
        if (memory instanceof byte[] array) {
            array[element(index)] = value;
        } else {
            bytes(Carrier.BYTE, index).put(place(index), value);
        }
    }

    /** Checks that the elements have the given carrier, and returns the buffer of an element. */
    private ByteBuffer bytes(Carrier carrier, long index) {
        check(carrier);
        return memory instanceof ElementMemory.ForeignView view ? view.buffer(checked(index)) : (ByteBuffer) memory;
    }

    /** Returns the index of an element in the array. */
    private int element(long index) {
        return offset + (int) checked(index);
    }

    /** Returns the byte offset of an element in its buffer. */
    private int place(long index) {
        return memory instanceof ElementMemory.ForeignView view
                ? view.offset(checked(index))
                : offset + (int) checked(index) * dataType.byteSize();
    }

    private long checked(long index) {
        if (index < 0 || index >= elementCount()) {
            throw new IndexOutOfBoundsException(
                    "element " + index + " of " + this + ": need an index from 0 to below " + elementCount());
        }
        return index;
    }
}
