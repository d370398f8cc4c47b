package ferro.backend.simulated;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.reduce.Elements;
import ferro.collectives.reduce.KeptKernels;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Copies or combines from a post into a receive; one per rank and group, since a kernel serves one thread at a time. */
final class Movement {
    private static final int SCRATCH_BYTES = 8 << 10;

    private final KeptKernels kernels = new KeptKernels();
    private ByteBuffer scratch;

    /** Returns elements in an array of their own. */
    static HostTensor copyOf(HostTensor data, long from, long count) {
        DataType type = data.dataType();
        int length = Math.toIntExact(count);
        HostTensor copy = HostTensor.ofArray(type, type.carrier().newArray(length), 0, length);
        copy.copyFrom(0, data, from, count);
        return copy;
    }

    /** Moves the next {@code bytes} of a post to the next place of a receive; allocates nothing where types are equal. */
    void move(Post post, Receive receive, long bytes) {
        HostTensor source = post.data;
        HostTensor into = receive.into;
        if (source.dataType() != into.dataType()) {
            moveBytes(post, receive, bytes);
            return;
        }
        int size = source.dataType().byteSize();
        long to = Elements.at(into, receive.from + receive.taken / size);
        long from = Elements.at(source, post.from + post.taken / size);
        if (receive.op == null) {
            Elements.copy(source.dataType(), into.memory(), to, source.memory(), from, bytes / size);
        } else {
            kernels.of(into.dataType(), receive.op).combine(into.memory(), to, source.memory(), from, bytes / size);
        }
    }

    /** A message may be sent as one type and received as another of as many bytes: bits are kept. */
    private void moveBytes(Post post, Receive receive, long bytes) {
        if (scratch == null) {
            scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES).order(ByteOrder.nativeOrder());
        }
        DataType sent = post.data.dataType();
        DataType wanted = receive.into.dataType();
        for (long done = 0; done < bytes; done += SCRATCH_BYTES) {
            long part = Math.min(SCRATCH_BYTES, bytes - done);
            long from = post.from + (post.taken + done) / sent.byteSize();
            long to = receive.from + (receive.taken + done) / wanted.byteSize();
            Elements.copy(sent, scratch, 0, post.data.memory(), Elements.at(post.data, from), part / sent.byteSize());
            Elements.copy(
                    wanted, receive.into.memory(), Elements.at(receive.into, to), scratch, 0, part / wanted.byteSize());
        }
    }

    /** Returns how many of the bytes both sides have are whole elements for both. */
    static long whole(Post post, Receive receive) {
        long bytes = Math.min(post.bytes - post.taken, receive.bytes - receive.taken);
        int unit = Math.max(
                post.data.dataType().byteSize(), receive.into.dataType().byteSize());
        return bytes - bytes % unit;
    }
}
