package ferro.backend.tcp.link;

import ferro.collectives.link.Post;
import ferro.collectives.reduce.TypedViews;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Direct memory for elements that cannot move directly between a socket and a tensor. All links of a group share one
 * instance, so that the memory stays in the second-level cache for any number of ranks.
 */
final class DirectStaging {
    /** Maximum bytes of one read. Of sizes from 64 KiB to 2 MiB, 512 KiB made reductions fastest. */
    static final int IN_BYTES = 512 << 10;

    /** Maximum bytes that are copied and written at once. This size fits into the cache and needs few system calls. */
    static final int OUT_BYTES = 256 << 10;

    /** Maximum size of a run of direct memory that is copied together with adjacent runs, to save system calls. */
    static final int SMALL_BYTES = 64 << 10;

    /**
     * Maximum size of a run of an array that is copied. At 128 KiB, a separate system call for the header was slower
     * than a copy.
     */
    static final int SMALL_ARRAY_BYTES = 128 << 10;

    private final ByteBuffer in = ByteBuffer.allocateDirect(IN_BYTES).order(ByteOrder.nativeOrder());
    private final ByteBuffer out = ByteBuffer.allocateDirect(OUT_BYTES).order(ByteOrder.nativeOrder());
    private final TypedViews inElements = new TypedViews(in);
    private final TypedViews outElements = new TypedViews(out);
    /** The stream whose bytes {@link #from} to {@link #to} are in {@link #out}. */
    private LinkSender owner;

    private long from;
    private long to;

    ByteBuffer in() {
        return in;
    }

    ByteBuffer out() {
        return out;
    }

    TypedViews inElements() {
        return inElements;
    }

    TypedViews outElements() {
        return outElements;
    }

    /** Returns whether the elements of a post move directly between the socket and the tensor, without a copy. */
    static boolean isBypassed(Post post, DataSocket wire) {
        return post.straight(SMALL_BYTES) || post.isLent(SMALL_ARRAY_BYTES) && wire.takesLent();
    }

    /** Returns the index in {@link #out} of a byte of a stream, or -1 if {@link #out} does not hold the byte. */
    int indexOf(LinkSender stream, long position) {
        return stream == owner && position >= from && position < to ? (int) (position - from) : -1;
    }

    /** Returns the index after the last byte in {@link #out}. */
    int end() {
        return (int) (to - from);
    }

    /** Records which bytes of a stream {@link #out} contains. */
    void holds(LinkSender stream, long start, long end) {
        owner = stream;
        from = start;
        to = end;
    }

    /** Records that {@link #out} contains no bytes of the given stream any more. */
    void forget(LinkSender stream) {
        if (owner == stream) {
            owner = null;
        }
    }
}
