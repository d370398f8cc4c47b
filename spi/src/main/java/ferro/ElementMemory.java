package ferro;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * The memory that holds the elements of a {@link HostTensor}: one array, one direct buffer, or {@link ForeignMemory}.
 */
abstract sealed class ElementMemory permits HostTensor {
    /** Largest unit that {@link ByteBuffer#alignmentOffset} accepts. */
    static final int GIB = 1 << 30;

    private static final int GIB_SHIFT = 30;
    /**
     * Address of the first element divided by 1 GiB; 0 before the first use. An int field fills padding of the object,
     * so the field costs no memory.
     */
    private int wholeGib;

    final DataType dataType;
    /** Array, direct buffer, or {@link ForeignView}. */
    final Object memory;
    /**
     * Start of the view in the array or buffer, whose size is at most 2 GiB. Only a {@link ForeignView} needs a larger
     * number than an int. An int makes each view a quarter smaller.
     */
    final int offset;
    /** Number of elements; negative if the {@link ForeignView} holds this number. */
    private final int count;

    ElementMemory(DataType dataType, Object memory, long offset, long elementCount) {
        boolean isForeign = memory instanceof BufferWindows;
        this.dataType = dataType;
        this.memory =
                isForeign ? new ForeignView((BufferWindows) memory, offset, elementCount, dataType.byteSize()) : memory;
        this.offset = isForeign ? 0 : Math.toIntExact(offset);
        this.count = isForeign ? -1 : Math.toIntExact(elementCount);
    }

    /**
     * Returns the array or direct buffer that holds the elements. Read and write a buffer only by absolute index, since
     * its position and limit belong to the caller who created the view.
     *
     * @return memory
     * @throws IllegalStateException if the elements are in more than one buffer; use {@link TensorMemory#memoryAt}
     */
    public final Object memory() {
        return memory instanceof ForeignView view ? only(view) : memory;
    }

    private ByteBuffer only(ForeignView view) {
        if (view.run(0) < view.elementCount()) {
            throw new IllegalStateException(this + " has " + byteCount() + " bytes in more than one buffer: use"
                    + " TensorMemory.memoryAt, or the accessors, which work for all memory");
        }
        return view.buffer(0);
    }

    /** {@return whether the elements are in direct buffers; false for a view of an array} */
    public final boolean isDirect() {
        return memory instanceof ByteBuffer || memory instanceof ForeignView;
    }

    /** {@return the start of the view in {@link #memory()}, in elements for an array, in bytes for a buffer} */
    public final long offset() {
        return memory instanceof ForeignView view ? view.offset(0) : offset;
    }

    /** Returns the distance between two neighbouring elements, in units of {@link #offset}. */
    final int unit() {
        return isDirect() ? dataType.byteSize() : 1;
    }

    /** Returns the address of the first element modulo 1 GiB. May be called only for direct memory. */
    final int addressInGib() {
        return memory instanceof ForeignView view
                ? (int) (view.address() & GIB - 1)
                : ((ByteBuffer) memory).alignmentOffset(offset, GIB);
    }

    /**
     * Returns the low 62 bits of the address of the first element. May be called only if {@link BufferAddress#isKnown}
     * returns true.
     */
    final long address() {
        if (memory instanceof ForeignView view) {
            return view.address();
        }
        int known = wholeGib;
        if (known == 0) {
            known = (int) (BufferAddress.of((ByteBuffer) memory) + offset >>> GIB_SHIFT);
            wholeGib = known;
        }
        return ((long) known << GIB_SHIFT) + addressInGib();
    }

    /** {@return the number of elements, at least 0; their size in bytes may exceed 2^31} */
    public final long elementCount() {
        return count >= 0 ? count : ((ForeignView) memory).elementCount();
    }

    /** {@return the size of all elements in bytes: {@code elementCount() * dataType().byteSize()}} */
    public final long byteCount() {
        return elementCount() * dataType.byteSize();
    }

    /**
     * Copies elements of a tensor of the same type without conversion. The result is also correct if both ranges
     * overlap.
     *
     * @param to     first element in this view, counted from its start
     * @param source tensor to copy from
     * @param from   first element in {@code source}, counted from its start
     * @param count  number of elements
     * @throws IllegalArgumentException  if the types differ
     * @throws IndexOutOfBoundsException if one of the ranges exceeds its view; no element is copied in this case
     */
    public final void copyFrom(long to, HostTensor source, long from, long count) {
        if (Objects.requireNonNull(source, "source").dataType != dataType) {
            throw new IllegalArgumentException(
                    "copy from " + source + " to " + this + ": both must have the same element type");
        }
        checkRange(to, count);
        ((ElementMemory) source).checkRange(from, count);
        if (!isDirect()) {
            source.read(dataType.carrier(), from, memory, (int) (offset + to), (int) count);
        } else if (!source.isDirect()) {
            write(dataType.carrier(), to, source.memory, (int) (source.offset + from), (int) count);
        } else {
            copyRuns((HostTensor) this, to, source, from, count);
        }
    }

    /**
     * Copies elements between buffers. If the target begins after the start of the source, copies the last run first,
     * so that no element is overwritten before it is read.
     */
    private static void copyRuns(HostTensor into, long to, HostTensor source, long from, long count) {
        int unit = into.dataType.byteSize();
        boolean isBackward = (TensorMemory.isForeign(into) || TensorMemory.isForeign(source))
                && isBehind(into, to * unit, source, from * unit);
        // a step of half a buffer lies in one buffer, wherever the step begins
        long step = isBackward ? (2 << 20) / unit : count;
        for (long done = 0; done < count; ) {
            long length = Math.min(step, count - done);
            if (!isBackward) {
                length = Math.min(TensorMemory.runAt(into, to + done), TensorMemory.runAt(source, from + done));
                length = Math.min(length, count - done);
            }
            long first = isBackward ? count - done - length : done;
            int at = (int) TensorMemory.offsetAt(into, to + first);
            ByteBuffer given = (ByteBuffer) TensorMemory.memoryAt(source, from + first);
            int givenAt = (int) TensorMemory.offsetAt(source, from + first);
            ((ByteBuffer) TensorMemory.memoryAt(into, to + first)).put(at, given, givenAt, (int) length * unit);
            done += length;
        }
    }

    private static boolean isBehind(HostTensor into, long to, HostTensor source, long from) {
        if (TensorMemory.memoryKey(into) == TensorMemory.memoryKey(source)) {
            return TensorMemory.memoryOffset(into) + to > TensorMemory.memoryOffset(source) + from;
        }
        return BufferAddress.isKnown() && into.address() + to > source.address() + from;
    }

    /** Copies elements as {@code copyTo} does, to any array of a carrier. */
    final void read(Carrier carrier, long from, Object into, int at, int count) {
        check(carrier);
        checkRange(from, count);
        if (!isDirect()) {
            System.arraycopy(memory, (int) (offset + from), into, at, count);
            return;
        }
        Objects.checkFromIndexSize(at, count, Array.getLength(into));
        for (int done = 0; done < count; ) {
            int length = (int) Math.min(count - done, TensorMemory.runAt((HostTensor) this, from + done));
            carrier.read(whole(bytes(carrier, from + done)), place(from + done), into, at + done, length);
            done += length;
        }
    }

    /** Copies elements as {@code copyFrom} does, from any array of a carrier. */
    final void write(Carrier carrier, long to, Object source, int at, int count) {
        check(carrier);
        checkRange(to, count);
        if (!isDirect()) {
            System.arraycopy(source, at, memory, (int) (offset + to), count);
            return;
        }
        Objects.checkFromIndexSize(at, count, Array.getLength(source));
        for (int done = 0; done < count; ) {
            int length = (int) Math.min(count - done, TensorMemory.runAt((HostTensor) this, to + done));
            carrier.write(whole(bytes(carrier, to + done)), place(to + done), source, at + done, length);
            done += length;
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
    private static ByteBuffer whole(ByteBuffer bytes) {
        return bytes.duplicate().clear().order(ByteOrder.nativeOrder());
    }

    private void checkRange(long from, long count) {
        // from + count is not computed, since the sum might overflow
        long all = elementCount();
        if (from < 0 || count < 0 || from > all || count > all - from) {
            throw new IndexOutOfBoundsException(
                    count + " elements from index " + from + " of " + this + ": need indices from 0 to below " + all);
        }
    }

    /** Checks that the elements have the given carrier, and returns the buffer that holds an element. */
    final ByteBuffer bytes(Carrier carrier, long index) {
        check(carrier);
        return memory instanceof ForeignView view ? view.buffer(checked(index)) : (ByteBuffer) memory;
    }

    /** Returns the index of an element in the array. */
    final int element(long index) {
        return offset + (int) checked(index);
    }

    /** Returns the byte offset of an element in its buffer. */
    final int place(long index) {
        return memory instanceof ForeignView view
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

    /**
     * The part of a {@link ForeignMemory} that a tensor views.
     *
     * @param windows      buffers of the memory
     * @param start        first byte
     * @param elementCount number of elements
     * @param unit         bytes of an element
     */
    record ForeignView(BufferWindows windows, long start, long elementCount, int unit) {
        /** Returns the buffer that holds an element and the run after this element. */
        ByteBuffer buffer(long element) {
            return windows.at(start + element * unit);
        }

        /** Returns the index of the first byte of an element in the buffer that {@link #buffer} returns. */
        int offset(long element) {
            return windows.offset(start + element * unit);
        }

        /**
         * Returns how many elements of this view, from the given one on, are in the buffer that {@link #buffer}
         * returns.
         */
        long run(long element) {
            return Math.min(elementCount - element, windows.run(start + element * unit) / unit);
        }

        long address() {
            return windows.address + start;
        }
    }
}
