package ferro.backend.tcp;

import ferro.collectives.link.StagedElements;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Direct memory through which elements pass that cannot go straight between socket and tensor: one of these serves all links
 * of a group, so that it stays in the second-level cache however many ranks there are.
 */
final class Staging {
    /** Read at once; of 64 KiB to 2 MiB, 512 KiB was the fastest to combine from. */
    static final int IN_BYTES = 512 << 10;

    /** Copied and written at once: large enough for few system calls, small enough to be in the cache when written. */
    static final int OUT_BYTES = 256 << 10;

    /** Runs of direct memory up to this size go through here beside their neighbours instead of by a call of their own. */
    static final int SMALL_BYTES = 64 << 10;

    private final ByteBuffer in = ByteBuffer.allocateDirect(IN_BYTES).order(ByteOrder.nativeOrder());
    private final ByteBuffer out = ByteBuffer.allocateDirect(OUT_BYTES).order(ByteOrder.nativeOrder());
    private final StagedElements inElements = new StagedElements(in);
    private final StagedElements outElements = new StagedElements(out);
    /** Whose bytes are in {@link #out}, and which of its stream. */
    private Outgoing owner;

    private long from;
    private long to;

    ByteBuffer in() {
        return in;
    }

    ByteBuffer out() {
        return out;
    }

    StagedElements inElements() {
        return inElements;
    }

    StagedElements outElements() {
        return outElements;
    }

    /** Returns the index in {@link #out} of a byte of a stream, or -1 if it is not there. */
    int indexOf(Outgoing stream, long position) {
        return stream == owner && position >= from && position < to ? (int) (position - from) : -1;
    }

    /** Returns the index after the last byte in {@link #out}. */
    int end() {
        return (int) (to - from);
    }

    /** Notes that {@link #out} holds a part of a stream. */
    void holds(Outgoing stream, long start, long end) {
        owner = stream;
        from = start;
        to = end;
    }

    /** Notes that {@link #out} holds nothing of a stream any more. */
    void forget(Outgoing stream) {
        if (owner == stream) {
            owner = null;
        }
    }
}
