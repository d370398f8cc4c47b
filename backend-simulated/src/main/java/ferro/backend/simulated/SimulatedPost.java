package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.TensorMemory;
import ferro.collectives.link.WireHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One send, as the receiver reads it. Posts are reused, so calls allocate no post. Only the rank that currently
 * has the post uses the post.
 */
final class SimulatedPost {
    /**
     * A copy of the header that the sender wrote. The copy is needed because the sender reuses its header for its next
     * call. The next call may begin before the receiver takes a post without elements.
     */
    final ByteBuffer headerBytes = ByteBuffer.allocate(WireHeader.BYTES).order(ByteOrder.nativeOrder());
    /** Whether the post begins with a header that the receiver has not copied. */
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

    /** Returns the memory of the element at a position. The position is the number of bytes of earlier elements. */
    Object memory(long position) {
        return TensorMemory.memoryAt(data, from + position / data.dataType().byteSize());
    }

    /** Returns the offset of the element at a position in {@link #memory}: for an array an index, else bytes. */
    long offset(long position) {
        return TensorMemory.offsetAt(data, from + position / data.dataType().byteSize());
    }

    boolean finished() {
        return !header && taken == bytes;
    }
}
