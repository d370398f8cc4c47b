package ferro.tck;

import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;

/** Host memory of {@link HeapDeviceMemory}. */
final class HeapStaging implements DeviceMemory.Staging {
    private static final byte CLOSED = 0x55;

    private final HeapDeviceMemory memory;
    private final ByteBuffer buffer;
    private final boolean pinned;
    private boolean closed;

    HeapStaging(HeapDeviceMemory memory, ByteBuffer buffer, boolean pinned) {
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

    /** Spoils the memory, so that whoever still reads it sees wrong data. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        buffer.clear();
        for (int at = 0; at < buffer.capacity(); at++) {
            buffer.put(at, CLOSED);
        }
        memory.closed(buffer);
    }
}
