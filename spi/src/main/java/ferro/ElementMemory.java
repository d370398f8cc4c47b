package ferro;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/** Where the elements of a {@link HostTensor} are: in one array, in one direct buffer, or in {@link ForeignMemory}. */
abstract sealed class ElementMemory permits HostElements {
    /** Largest unit that {@link ByteBuffer#alignmentOffset} accepts. */
    static final int GIB = 1 << 30;

    private static final int GIB_SHIFT = 30;
    /**
     * Address of the first element divided by 1 GiB; cached on first use, 0 before. The field is an int, which costs no
     * memory since it fills padding.
     */
    private int wholeGib;

    final DataType dataType;
    /** Array, direct buffer, or {@link ForeignView}. */
    final Object memory;
    /**
     * Start of the view in an array or buffer, which have at most 2 GiB. Only a {@link ForeignView} needs numbers above an
     * int. With ints, the views of every call are a quarter smaller.
     */
    final int offset;
    /** Number of elements; negative if a {@link ForeignView} has it. */
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
     * Returns the array or direct buffer. Read and write a buffer only by absolute index, since its position and limit
     * belong to the caller who created the view.
     *
     * @return memory
     * @throws IllegalStateException if the elements are in more than one buffer; use {@link TensorMemory#memoryAt}
     */
    public final Object memory() {
        return memory instanceof ForeignView view ? only(view) : memory;
    }

    private ByteBuffer only(ForeignView view) {
        if (hasParts()) {
            throw new IllegalStateException(this + " has " + byteCount() + " bytes in more than one buffer: use"
                    + " TensorMemory.memoryAt, or the accessors, which work for all memory");
        }
        return view.buffer(0);
    }

    /** Returns the array or direct buffer that has an element. See {@link TensorMemory#memoryAt}. */
    final Object memoryAt(long element) {
        return memory instanceof ForeignView view ? view.buffer(element) : memory;
    }

    /** Returns where an element is in its memory. See {@link TensorMemory#offsetAt}. */
    final long offsetAt(long element) {
        return memory instanceof ForeignView view ? view.offset(element) : offset + element * unit();
    }

    /** Returns how many elements, from an element on, are in one memory. See {@link TensorMemory#runAt}. */
    final long runAt(long element) {
        return memory instanceof ForeignView view ? view.run(element) : count - element;
    }

    /** Returns whether the elements are in more than one buffer. */
    final boolean hasParts() {
        return memory instanceof ForeignView view && view.run(0) < view.elementCount();
    }

    /** {@return whether the elements are in direct buffers; false for a view of an array} */
    public final boolean isDirect() {
        return memory instanceof ByteBuffer || memory instanceof ForeignView;
    }

    /** Returns whether the owner may free the memory at any time. */
    final boolean isForeign() {
        return memory instanceof ForeignView;
    }

    /** Returns the object that views of the same memory have in common. See {@link TensorMemory#memoryKey}. */
    final Object memoryKey() {
        return memory instanceof ForeignView view ? view.windows() : memory;
    }

    /** {@return the start of the view in {@link #memory()}: elements for an array, bytes for a buffer} */
    public final long offset() {
        return memory instanceof ForeignView view ? view.offset(0) : offset;
    }

    /** Returns the start of the view in the memory that {@link #memoryKey} stands for. */
    final long memoryOffset() {
        return memory instanceof ForeignView view ? view.start() : offset;
    }

    /** Returns how much an offset grows from one element to the next. */
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

    /** Checks that a call may use this view. See {@link TensorMemory#checkUsable}. */
    final void checkUsable(String call, String name, boolean isWritten) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(name, "name");
        if (memory instanceof ForeignView view) {
            view.windows().check(call, name, this, isWritten);
        }
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
        ElementMemory given = Objects.requireNonNull(source, "source");
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
    private void copyRun(long to, ElementMemory given, long from, int length) {
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
        } else if (memory instanceof ForeignView) {
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
        } else if (memory instanceof ForeignView) {
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

    /** Checks that the elements have the given carrier, and returns the buffer of an element. */
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
        /** Returns the buffer that has an element and the run behind it. */
        ByteBuffer buffer(long element) {
            return windows.at(start + element * unit);
        }

        /** Returns the index of the first byte of an element in the buffer that {@link #buffer} returns. */
        int offset(long element) {
            return windows.offset(start + element * unit);
        }

        /** Returns how many elements of this view, from an element on, are in the buffer that {@link #buffer} returns. */
        long run(long element) {
            return Math.min(elementCount - element, windows.run(start + element * unit) / unit);
        }

        /** Returns the address of the first byte. */
        long address() {
            return windows.address + start;
        }
    }
}
