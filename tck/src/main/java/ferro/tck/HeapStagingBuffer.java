package ferro.tck;

import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;

/** A staging buffer on the host for {@link HeapDeviceMemory}. */
final class HeapStagingBuffer implements DeviceMemory.Staging {
    /** Byte that overwrites the memory of a closed buffer. */
    private static final byte SPOILED = 0x55;

    private final HeapDeviceMemory memory;
    private final ByteBuffer buffer;
    private final boolean pinned;
    private boolean closed;

    HeapStagingBuffer(HeapDeviceMemory memory, ByteBuffer buffer, boolean pinned) {
        this.memory = memory;
        this.buffer = buffer;
        this.pinned = pinned;
    }

    @Override
    public ByteBuffer buffer() {
        return buffer;
    }

    @Override
    public boolean pinned() {
        return pinned;
    }

    /** Overwrites the memory, so that code that reads the memory after the close sees wrong data. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        buffer.clear();
        for (int at = 0; at < buffer.limit(); at++) {
            buffer.put(at, SPOILED);
        }
        memory.closed(buffer);
    }
}
