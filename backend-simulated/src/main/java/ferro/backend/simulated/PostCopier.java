package ferro.backend.simulated;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.Post;
import ferro.collectives.link.PostRing;
import ferro.collectives.reduce.ElementCopier;
import ferro.collectives.reduce.Kernel;
import ferro.collectives.reduce.KernelCache;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An object that copies or combines elements from a post into a posted receive. Each rank has one copier for each
 * group, because only one thread at a time may use a kernel or a copier.
 */
final class PostCopier {
    private static final int SCRATCH_BYTES = 8 << 10;

    private final KernelCache kernels;
    private final ElementCopier copies = new ElementCopier();
    private ByteBuffer scratch;

    PostCopier(int worldSize) {
        this.kernels = new KernelCache(worldSize);
    }

    /** Returns a copy of elements in a new array. */
    static HostTensor copyOf(HostTensor data, long from, long count) {
        DataType type = data.dataType();
        int length = Math.toIntExact(count);
        HostTensor copy = HostTensor.ofArray(type, type.carrier().newArray(length), 0, length);
        copy.copyFrom(0, data, from, count);
        return copy;
    }

    /** Returns the kernel of a receive that combines. */
    Kernel kernel(DataType type, ReduceOp op) {
        return kernels.of(type, op);
    }

    /** Moves the next {@code bytes} of a post into the oldest receive; allocates nothing if the types are equal. */
    void move(SimulatedPost post, PostRing receives, long bytes) {
        Post receive = receives.oldest();
        if (receive.type() != post.data.dataType()) {
            moveBytes(post, receives, bytes);
            return;
        }
        Object into = receive.memory(receives.position());
        long to = receive.place(receives.position());
        Object source = post.memory(post.taken);
        long from = post.offset(post.taken);
        long count = bytes / receive.elementBytes();
        if (receive.kernel() == null) {
            copies.copy(receive.type(), into, to, source, from, count);
        } else {
            receive.kernel().combine(into, to, source, from, count);
        }
    }

    /** Moves bytes of a message whose receiver uses another type of the same total size. The bits do not change. */
    private void moveBytes(SimulatedPost post, PostRing receives, long bytes) {
        if (scratch == null) {
            scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES).order(ByteOrder.nativeOrder());
        }
        Post receive = receives.oldest();
        DataType sent = post.data.dataType();
        for (long done = 0; done < bytes; done += SCRATCH_BYTES) {
            long part = Math.min(SCRATCH_BYTES, bytes - done);
            long taken = post.taken + done;
            long position = receives.position() + done;
            copies.copy(sent, scratch, 0, post.memory(taken), post.offset(taken), part / sent.byteSize());
            long count = part / receive.elementBytes();
            copies.copy(receive.type(), receive.memory(position), receive.place(position), scratch, 0, count);
        }
    }

    /** Returns how many bytes are complete elements and complete records in both the post and the oldest receive. */
    static long whole(SimulatedPost post, PostRing receives) {
        long bytes = Math.min(post.bytes - post.taken, receives.oldest().length() - receives.position());
        return bytes - bytes % unit(post, receives.oldest());
    }

    /**
     * Returns the result of {@link #whole}, but at most one piece, or one record if a record is larger than a piece.
     */
    static long piece(SimulatedPost post, PostRing receives, long pieceBytes) {
        int unit = unit(post, receives.oldest());
        return Math.min(whole(post, receives), Math.max(1, pieceBytes / unit) * unit);
    }

    private static int unit(SimulatedPost post, Post receive) {
        int element = Math.max(post.data.dataType().byteSize(), receive.elementBytes());
        return receive.kernel() == null ? element : element * receive.kernel().recordElements();
    }
}
