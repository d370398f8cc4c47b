package ferro;

import java.nio.ByteBuffer;

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
