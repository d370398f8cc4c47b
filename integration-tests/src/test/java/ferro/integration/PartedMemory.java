package ferro.integration;

import ferro.DataType;
import ferro.ForeignMemory;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;

/** A direct buffer as foreign memory, seen through buffers of 4 MiB; a test can free it. */
final class PartedMemory implements ForeignMemory {
    static final int BUFFER_BYTES = 4 << 20;

    /** No process has memory from these addresses on; each memory has its own. */
    private static final AtomicLong NEXT = new AtomicLong(1L << 62);

    private final long address;
    private final ByteBuffer bytes;
    volatile boolean isFreed;

    PartedMemory(int byteCount) {
        bytes = ByteBuffer.allocateDirect(byteCount);
        address = NEXT.getAndAdd(byteCount + 4096L);
    }

    static HostTensor tensor(DataType type, int elements) {
        return HostTensor.of(type, new PartedMemory(elements * type.byteSize()));
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long byteCount() {
        return bytes.capacity();
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public boolean isAlive() {
        return !isFreed;
    }

    @Override
    public int bufferBytes() {
        return BUFFER_BYTES;
    }

    @Override
    public ByteBuffer buffer(long from, int count) {
        return bytes.slice((int) from, count).order(ByteOrder.nativeOrder());
    }
}
