package ferro.tck;

import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A staging buffer on the host for {@link HeapDeviceMemory}. */
final class HeapStaging implements DeviceMemory.Staging {
    /** Bytes that overwrite closed memory. The bytes repeat until the memory is full. */
    private static final byte[] SPOILED = new byte[1 << 12];

    static {
        Arrays.fill(SPOILED, (byte) 0x55);
    }

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

    /** Overwrites the memory, so that code that still reads it sees wrong data. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        buffer.clear();
        while (buffer.hasRemaining()) {
            buffer.put(SPOILED, 0, Math.min(SPOILED.length, buffer.remaining()));
        }
        buffer.clear();
        memory.closed(buffer);
    }
}
