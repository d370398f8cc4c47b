package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.TensorMemory;
import ferro.collectives.link.WireHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** One send, as the receiver reads it. Posts are reused, so calls allocate none. Only a post's current side uses it. */
final class SimulatedPost {
    /**
     * The header as the sender wrote it. The sender reuses its own header for its next call, possibly before the
     * receiver takes a post without elements.
     */
    final ByteBuffer headerBytes = ByteBuffer.allocate(WireHeader.BYTES).order(ByteOrder.nativeOrder());
    /** Whether the post begins with a header that the receiver has not taken. */
    boolean header;
    /** Memory of the sender, or a copy of the elements in the window; null without elements. */
    HostTensor data;
    /** First element of {@link #data}. */
    long from;
    /** Size of the elements in bytes. */
    long bytes;
    /** Number of {@link #bytes} that the receiver has taken. */
    long taken;
    /** Bytes of the window that this post occupies; 0 if the post refers to the sender's memory. */
    long window;
    /** The next post of the ring. */
    SimulatedPost next;

    /** Returns the memory with the element at a position, which is a number of bytes of elements before it. */
    Object memory(long position) {
        return TensorMemory.memoryAt(data, from + position / data.dataType().byteSize());
    }

    /** Returns the offset of the element in {@link #memory}: an index for an array, bytes for a buffer. */
    long offset(long position) {
        return TensorMemory.offsetAt(data, from + position / data.dataType().byteSize());
    }

    boolean finished() {
        return !header && taken == bytes;
    }
}
