package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.collectives.link.WireHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** One send as its receiver meets it; reused, so that a call allocates none. Fields belong to whoever holds the post. */
final class Post {
    /** As written by the sender, which uses its own for its next call, maybe before a post without elements is taken. */
    final ByteBuffer headerBytes = ByteBuffer.allocate(WireHeader.BYTES).order(ByteOrder.nativeOrder());
    /** Whether the header stands in front and has not been taken. */
    boolean header;
    /** Memory of the sender, or a copy of it in the window; null if there are no elements. */
    HostTensor data;
    /** First element of {@link #data}. */
    long from;
    /** Length of the elements. */
    long bytes;
    /** How many of {@link #bytes} the receiver has taken. */
    long taken;
    /** Bytes of the window that it holds; 0 if it refers to the sender's memory. */
    long window;
    /** The next one of the circle. */
    Post next;

    boolean finished() {
        return !header && taken == bytes;
    }
}
