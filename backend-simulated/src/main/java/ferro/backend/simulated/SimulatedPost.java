package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.collectives.link.WireHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** One send as its receiver sees it; reused, so calls allocate none. Only the side that holds it uses the fields. */
final class SimulatedPost {
    /**
     * The header as the sender wrote it. The sender reuses its own header for its next call, possibly before a post
     * without elements is taken.
     */
    final ByteBuffer headerBytes = ByteBuffer.allocate(WireHeader.BYTES).order(ByteOrder.nativeOrder());
    /** Whether the header comes first and has not been taken. */
    boolean header;
    /** Memory of the sender, or a copy of it in the window; null if there are no elements. */
    HostTensor data;
    /** First element of {@link #data}. */
    long from;
    /** Length of the elements. */
    long bytes;
    /** How many of {@link #bytes} the receiver has taken. */
    long taken;
    /** Bytes of the window that this post holds; 0 if it refers to the sender's memory. */
    long window;
    /** The next post of the circle. */
    SimulatedPost next;

    boolean finished() {
        return !header && taken == bytes;
    }
}
