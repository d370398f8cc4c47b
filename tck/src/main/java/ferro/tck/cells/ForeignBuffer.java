package ferro.tck.cells;

import ferro.DataType;
import ferro.ForeignMemory;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A direct buffer as {@link ForeignMemory}, which an owner may free at any time. The owner of these bytes never frees
 * them.
 */
final class ForeignBuffer implements ForeignMemory {
    /** The first address of a range in which no process has memory. */
    private static final long NOWHERE = 1L << 62;

    private static final int MAX_BYTES_SHIFT = 31;

    private final ByteBuffer bytes;

    private ForeignBuffer(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** Returns a tensor of zeros in new foreign memory. */
    static HostTensor tensor(DataType type, int length) {
        return HostTensor.of(type, new ForeignBuffer(ByteBuffer.allocateDirect(length * type.byteSize())));
    }

    /** Returns an address that only this memory has, because JDK 17 does not give the address of a buffer. */
    @Override
    public long address() {
        return NOWHERE + ((long) System.identityHashCode(bytes) << MAX_BYTES_SHIFT);
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
        return true;
    }

    @Override
    public ByteBuffer buffer(long from, int count) {
        return bytes.slice((int) from, count).order(ByteOrder.nativeOrder());
    }
}
