package ferro.backend.simulated;

import ferro.DataType;
import ferro.HostTensor;
import ferro.TensorMemory;
import ferro.collectives.reduce.ElementCopier;
import ferro.collectives.reduce.KeptKernels;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Copies or combines elements from a post into a receive. Each rank has one object for each group, because only one
 * thread at a time may use a kernel or a copier.
 */
final class PostCopier {
    private static final int SCRATCH_BYTES = 8 << 10;

    private final KeptKernels kernels;
    private final ElementCopier copies = new ElementCopier();
    private ByteBuffer scratch;

    PostCopier(int worldSize) {
        this.kernels = new KeptKernels(worldSize);
    }

    /** Returns a copy of elements in a new array. */
    static HostTensor copyOf(HostTensor data, long from, long count) {
        DataType type = data.dataType();
        int length = Math.toIntExact(count);
        HostTensor copy = HostTensor.ofArray(type, type.carrier().newArray(length), 0, length);
        copy.copyFrom(0, data, from, count);
        return copy;
    }

    /** Moves the next {@code bytes} of a post into a receive; allocates nothing if the types are equal. */
    void move(SimulatedPost post, PostedReceive receive, long bytes) {
        HostTensor source = post.data;
        HostTensor into = receive.into;
        if (source.dataType() != into.dataType()) {
            moveBytes(post, receive, bytes);
            return;
        }
        int size = source.dataType().byteSize();
        long to = receive.from + receive.taken / size;
        long from = post.from + post.taken / size;
        if (receive.op == null) {
            copies.copy(into, to, source, from, bytes / size);
        } else {
            kernels.of(into.dataType(), receive.op).combine(into, to, source, from, bytes / size);
        }
    }

    /** Moves bytes of a message whose receiver uses another type of the same total size. Keeps the bits. */
    private void moveBytes(SimulatedPost post, PostedReceive receive, long bytes) {
        if (scratch == null) {
            scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES).order(ByteOrder.nativeOrder());
        }
        DataType sent = post.data.dataType();
        DataType wanted = receive.into.dataType();
        for (long done = 0; done < bytes; done += SCRATCH_BYTES) {
            long part = Math.min(SCRATCH_BYTES, bytes - done);
            long from = post.from + (post.taken + done) / sent.byteSize();
            long to = receive.from + (receive.taken + done) / wanted.byteSize();
            Object source = TensorMemory.memoryAt(post.data, from);
            copies.copy(sent, scratch, 0, source, TensorMemory.offsetAt(post.data, from), part / sent.byteSize());
            Object target = TensorMemory.memoryAt(receive.into, to);
            copies.copy(wanted, target, TensorMemory.offsetAt(receive.into, to), scratch, 0, part / wanted.byteSize());
        }
    }

    /** Returns how many of the bytes on both sides are complete elements for both, and complete records. */
    static long whole(SimulatedPost post, PostedReceive receive) {
        long bytes = Math.min(post.bytes - post.taken, receive.bytes - receive.taken);
        return bytes - bytes % unit(post, receive);
    }

    /** Returns the same as {@link #whole}, but at most one piece, or one record that is larger than a piece. */
    static long piece(SimulatedPost post, PostedReceive receive, long pieceBytes) {
        int unit = unit(post, receive);
        return Math.min(whole(post, receive), Math.max(1, pieceBytes / unit) * unit);
    }

    private static int unit(SimulatedPost post, PostedReceive receive) {
        int element = Math.max(
                post.data.dataType().byteSize(), receive.into.dataType().byteSize());
        return receive.op == null ? element : element * receive.op.recordElements();
    }
}
