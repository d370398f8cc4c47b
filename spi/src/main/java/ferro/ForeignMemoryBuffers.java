package ferro;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The buffers of a {@link ForeignMemory}. Window i begins at i times the run size and has two runs, or the rest of the
 * memory. Therefore at least one run that begins at any given byte, or the rest of the memory, is inside one window.
 * The run size is a power of two and a multiple of every element size, so no element lies across the end of a window.
 */
final class ForeignMemoryBuffers {
    private static final int MIN_BUFFER_BYTES = 4 << 20;
    private static final int MAX_BUFFER_BYTES = 1 << 30;

    private final ForeignMemory memory;
    final long address;

    private final boolean isReadOnly;
    private final ByteBuffer[] windows;
    private final int runShift;

    ForeignMemoryBuffers(ForeignMemory memory) {
        int buffer = memory.bufferBytes();
        if (Integer.bitCount(buffer) != 1 || buffer < MIN_BUFFER_BYTES || buffer > MAX_BUFFER_BYTES) {
            throw new IllegalArgumentException("bufferBytes of foreign memory is " + buffer
                    + ", need a power of two from " + MIN_BUFFER_BYTES + " to " + MAX_BUFFER_BYTES);
        }
        this.memory = memory;
        this.address = memory.address();
        this.isReadOnly = memory.isReadOnly();
        long run = buffer / 2;
        this.runShift = Long.numberOfTrailingZeros(run);
        long bytes = memory.byteCount();
        int count = (int) Math.max(1, (bytes + run - 1) / run - 1);
        this.windows = new ByteBuffer[count];
        for (int i = 0; i < count; i++) {
            windows[i] = window(i * run, (int) Math.min(buffer, bytes - i * run));
        }
    }

    private ByteBuffer window(long from, int bytes) {
        ByteBuffer window = memory.buffer(from, bytes);
        if (!window.isDirect()
                || window.order() != ByteOrder.nativeOrder()
                || window.position() != 0
                || window.limit() != bytes
                || window.capacity() != bytes) {
            throw new IllegalArgumentException("buffer of foreign memory is " + window + " in " + window.order()
                    + ", need a direct buffer of " + bytes + " bytes in native order");
        }
        return window;
    }

    private int index(long at) {
        return (int) Math.min(at >>> runShift, windows.length - 1);
    }

    /** Returns the window that has a byte and the run that begins at the byte. */
    ByteBuffer at(long at) {
        return windows[index(at)];
    }

    /** Returns the index of a byte in the window that {@link #at} returns. */
    int offset(long at) {
        return (int) (at - ((long) index(at) << runShift));
    }

    /** Returns how many bytes, from the byte {@code at} on, are in the window that {@link #at} returns. */
    int run(long at) {
        return at(at).capacity() - offset(at);
    }

    /** Throws an exception if a call may not use this memory. */
    void check(String call, String name, Object tensor, boolean isWritten) {
        if (!memory.isAlive()) {
            throw new IllegalStateException(call + ": the memory of " + name + " " + tensor + " was freed (" + memory
                    + "): free memory, or close its arena, only after the calls on its tensors have ended");
        }
        if (isReadOnly && isWritten) {
            throw new IllegalArgumentException(call + ": " + name + " " + tensor + " is read-only (" + memory
                    + "): need memory that can be written");
        }
    }
}
