package ferro;

import java.nio.ByteBuffer;
import java.util.Objects;

/** Where the elements of a {@link HostTensor} are: in one array, in one direct buffer, or in {@link ForeignMemory}. */
abstract sealed class ElementMemory permits ElementCopies {
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

    /**
     * Returns whether the elements are in direct buffers.
     *
     * @return false for a view of an array
     */
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

    /**
     * Returns the start of the view in the memory that {@link #memory()} returns.
     *
     * @return offset in elements for an array, in bytes for a buffer
     */
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

    /**
     * Returns the number of elements.
     *
     * @return number of elements, at least 0; their size in bytes may exceed 2^31
     */
    public final long elementCount() {
        return count >= 0 ? count : ((ForeignView) memory).elementCount();
    }

    /**
     * Returns the size of all elements in bytes.
     *
     * @return {@code elementCount() * dataType().byteSize()}
     */
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
