package ferro;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/** The elements of a {@link HostTensor}, with methods that copy elements to and from arrays and from other tensors. */
abstract sealed class ElementCopies extends ElementMemory permits HostElements {
    ElementCopies(DataType dataType, Object memory, long offset, long elementCount) {
        super(dataType, memory, offset, elementCount);
    }

    /**
     * Copies elements of f32 to an array.
     *
     * @param from  first element in this view, counted from its start
     * @param into  array; may be the array of this view
     * @param at    first element in the array
     * @param count elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyTo(long from, float[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        read(Carrier.FLOAT, from, into, at, count);
    }

    /**
     * Copies elements of f32 from an array.
     *
     * @param to     first element in this view, counted from its start
     * @param source array; may be the array of this view
     * @param at     first element in the array
     * @param count  elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyFrom(long to, float[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        write(Carrier.FLOAT, to, source, at, count);
    }

    /**
     * Copies elements of f64 to an array.
     *
     * @param from  first element in this view, counted from its start
     * @param into  array; may be the array of this view
     * @param at    first element in the array
     * @param count elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyTo(long from, double[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        read(Carrier.DOUBLE, from, into, at, count);
    }

    /**
     * Copies elements of f64 from an array.
     *
     * @param to     first element in this view, counted from its start
     * @param source array; may be the array of this view
     * @param at     first element in the array
     * @param count  elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyFrom(long to, double[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        write(Carrier.DOUBLE, to, source, at, count);
    }

    /**
     * Copies elements of i32 or u32 to an array.
     *
     * @param from  first element in this view, counted from its start
     * @param into  array; may be the array of this view
     * @param at    first element in the array
     * @param count elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyTo(long from, int[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        read(Carrier.INT, from, into, at, count);
    }

    /**
     * Copies elements of i32 or u32 from an array.
     *
     * @param to     first element in this view, counted from its start
     * @param source array; may be the array of this view
     * @param at     first element in the array
     * @param count  elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyFrom(long to, int[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        write(Carrier.INT, to, source, at, count);
    }

    /**
     * Copies elements of i64 or u64 to an array.
     *
     * @param from  first element in this view, counted from its start
     * @param into  array; may be the array of this view
     * @param at    first element in the array
     * @param count elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyTo(long from, long[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        read(Carrier.LONG, from, into, at, count);
    }

    /**
     * Copies elements of i64 or u64 from an array.
     *
     * @param to     first element in this view, counted from its start
     * @param source array; may be the array of this view
     * @param at     first element in the array
     * @param count  elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyFrom(long to, long[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        write(Carrier.LONG, to, source, at, count);
    }

    /**
     * Copies elements of i16 or u16, or the bits of f16 or bf16, to an array.
     *
     * @param from  first element in this view, counted from its start
     * @param into  array; may be the array of this view
     * @param at    first element in the array
     * @param count elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyTo(long from, short[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        read(Carrier.SHORT, from, into, at, count);
    }

    /**
     * Copies elements of i16 or u16, or the bits of f16 or bf16, from an array.
     *
     * @param to     first element in this view, counted from its start
     * @param source array; may be the array of this view
     * @param at     first element in the array
     * @param count  elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyFrom(long to, short[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        write(Carrier.SHORT, to, source, at, count);
    }

    /**
     * Copies elements of i8 or u8 to an array.
     *
     * @param from  first element in this view, counted from its start
     * @param into  array; may be the array of this view
     * @param at    first element in the array
     * @param count elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyTo(long from, byte[] into, int at, int count) {
        Objects.requireNonNull(into, "into");
        read(Carrier.BYTE, from, into, at, count);
    }

    /**
     * Copies elements of i8 or u8 from an array.
     *
     * @param to     first element in this view, counted from its start
     * @param source array; may be the array of this view
     * @param at     first element in the array
     * @param count  elements
     * @throws IllegalArgumentException  if the elements are of another type; the message names the array type that fits
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its memory; nothing is copied then
     */
    public final void copyFrom(long to, byte[] source, int at, int count) {
        Objects.requireNonNull(source, "source");
        write(Carrier.BYTE, to, source, at, count);
    }

    /**
     * Copies elements of a tensor of the same type without conversion. The result is also correct if both ranges
     * overlap.
     *
     * @param to     first element in this view, counted from its start
     * @param source source
     * @param from   first element in {@code source}, counted from its start
     * @param count  elements
     * @throws IllegalArgumentException  if the types differ
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its view; nothing is copied then
     */
    public final void copyFrom(long to, HostTensor source, long from, long count) {
        ElementCopies given = Objects.requireNonNull(source, "source");
        if (given.dataType != dataType) {
            throw new IllegalArgumentException(
                    "copy from " + given + " to " + this + ": both must have the same element type");
        }
        checkRange(to, count);
        given.checkRange(from, count);
        if (isForeign() || given.isForeign()) {
            ElementRuns.copy((HostTensor) this, to, source, from, count);
        } else {
            copyRun(to, given, from, (int) count);
        }
    }

    /** Copies elements that have one array or buffer on each side; the ranges are checked. */
    private void copyRun(long to, ElementCopies given, long from, int length) {
        int unit = dataType.byteSize();
        boolean isDirect = memory instanceof ByteBuffer;
        if (isDirect && given.memory instanceof ByteBuffer bytes) {
            int givenAt = (int) (given.offset + from * unit);
            ((ByteBuffer) memory).put((int) (offset + to * unit), bytes, givenAt, length * unit);
        } else if (isDirect) {
            write(dataType.carrier(), to, given.memory, (int) (given.offset + from), length);
        } else if (given.memory instanceof ByteBuffer) {
            given.read(dataType.carrier(), from, memory, (int) (offset + to), length);
        } else {
            System.arraycopy(given.memory, (int) (given.offset + from), memory, (int) (offset + to), length);
        }
    }

    /** Copies elements as {@code copyTo} does, to any array of a carrier. */
    final void read(Carrier carrier, long from, Object into, int at, int count) {
        check(carrier);
        checkRange(from, count);
        if (memory instanceof ByteBuffer bytes) {
            carrier.read(whole(bytes), (int) (offset + from * carrier.byteSize()), into, at, count);
        } else if (memory instanceof ElementMemory.ForeignView) {
            ElementRuns.read((HostTensor) this, from, into, at, count);
        } else {
            System.arraycopy(memory, (int) (offset + from), into, at, count);
        }
    }

    /** Copies elements as {@code copyFrom} does, from any array of a carrier. */
    final void write(Carrier carrier, long to, Object source, int at, int count) {
        check(carrier);
        checkRange(to, count);
        if (memory instanceof ByteBuffer bytes) {
            carrier.write(whole(bytes), (int) (offset + to * carrier.byteSize()), source, at, count);
        } else if (memory instanceof ElementMemory.ForeignView) {
            ElementRuns.write((HostTensor) this, to, source, at, count);
        } else {
            System.arraycopy(source, at, memory, (int) (offset + to), count);
        }
    }

    /** Throws an IllegalArgumentException if the elements have another carrier. */
    final void check(Carrier carrier) {
        Carrier mine = dataType.carrier();
        if (mine != carrier) {
            String name = mine.elementClass().getName();
            String accessor = Character.toUpperCase(name.charAt(0)) + name.substring(1);
            throw new IllegalArgumentException(this + " has elements that are read and written as " + name + ", not as "
                    + carrier.elementClass() + ": use get" + accessor + ", set" + accessor + ", or copies with "
                    + mine.arrayName());
        }
    }

    /** Returns a view of the full buffer, from 0 to its capacity. */
    static ByteBuffer whole(ByteBuffer bytes) {
        return bytes.duplicate().clear().order(ByteOrder.nativeOrder());
    }

    /** Checks that a range of elements is inside this view. */
    private void checkRange(long from, long count) {
        // no sum, which might overflow
        long all = elementCount();
        if (from < 0 || count < 0 || from > all || count > all - from) {
            throw new IndexOutOfBoundsException(
                    count + " elements from index " + from + " of " + this + ": need indices from 0 to below " + all);
        }
    }
}
