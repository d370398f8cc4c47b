package ferro.segments;

import ferro.ForeignMemory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The memory of a native segment. Its buffers belong to the arena of the segment, which checks each access. */
record SegmentMemory(MemorySegment segment) implements ForeignMemory {
    @Override
    public long address() {
        return segment.address();
    }

    @Override
    public long byteCount() {
        return segment.byteSize();
    }

    @Override
    public boolean isReadOnly() {
        return segment.isReadOnly();
    }

    @Override
    public boolean isAlive() {
        return segment.scope().isAlive();
    }

    @Override
    public ByteBuffer buffer(long from, int bytes) {
        return segment.asSlice(from, bytes).asByteBuffer().order(ByteOrder.nativeOrder());
    }

    @Override
    public String toString() {
        return Segments.named(segment);
    }
}
