package ferro;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A direct buffer as foreign memory with small buffers, which a test can free and make read-only. */
final class ForeignBytes implements ForeignMemory {
    static final int BUFFER_BYTES = 4 << 20;

    final ByteBuffer bytes;
    int bufferBytes = BUFFER_BYTES;
    boolean isReadOnly;
    boolean isFreed;
    ByteOrder order = ByteOrder.nativeOrder();

    ForeignBytes(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    static ForeignBytes of(int count) {
        return new ForeignBytes(ByteBuffer.allocateDirect(count));
    }

    @Override
    public long address() {
        return bytes.isDirect() ? BufferAddressFinder.of(bytes) : 0;
    }

    @Override
    public long byteCount() {
        return bytes.capacity();
    }

    @Override
    public boolean isReadOnly() {
        return isReadOnly;
    }

    @Override
    public boolean isAlive() {
        return !isFreed;
    }

    @Override
    public int bufferBytes() {
        return bufferBytes;
    }

    @Override
    public ByteBuffer buffer(long from, int count) {
        ByteBuffer part = bytes.slice((int) from, count);
        return (isReadOnly ? part.asReadOnlyBuffer() : part).order(order);
    }

    @Override
    public String toString() {
        return "test memory";
    }
}
