package ferro.training.agreement;

import ferro.Carrier;
import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Hash of the bits of a tensor. The numbers -0.0 and 0.0 have different hashes. Two NaNs with different bits also have
 * different hashes. Two tensors of the same type and length always have different hashes if they differ in only one
 * word of 8 bytes. In all other cases, two different tensors have the same hash in about one of 2^64 cases.
 */
public final class TensorHasher {
    private static final int BLOCK_BYTES = 1 << 16;
    private static final long FIRST_FACTOR = 0x9E3779B97F4A7C15L;
    private static final long SECOND_FACTOR = 0xBF58476D1CE4E5B9L;

    private long hash;

    private TensorHasher() {}

    /** Returns the hash of the type, the length and the elements of a tensor. */
    public static long of(HostTensor tensor) {
        TensorHasher hash = new TensorHasher();
        hash.add(tensor);
        return hash.hash;
    }

    /** Returns the type, length and hash of a tensor as text. */
    public static String text(HostTensor tensor) {
        return tensor + " of hash " + Long.toHexString(of(tensor));
    }

    private void add(HostTensor tensor) {
        add(tensor.toString());
        if (tensor.isDirect()) {
            for (long from = 0; from < tensor.elementCount(); ) {
                long run = TensorMemory.runAt(tensor, from);
                add(tensor.slice(from, run).buffer());
                from += run;
            }
            return;
        }
        Carrier carrier = tensor.dataType().carrier();
        int unit = tensor.dataType().byteSize();
        ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES).order(ByteOrder.nativeOrder());
        for (long from = 0; from < tensor.elementCount(); from += BLOCK_BYTES / unit) {
            int count = (int) Math.min(BLOCK_BYTES / unit, tensor.elementCount() - from);
            carrier.write(block.clear(), 0, tensor.memory(), (int) (tensor.offset() + from), count);
            add(block.limit(count * unit));
        }
    }

    private void add(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        add(bytes.length);
        add(ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()));
    }

    /** Adds the bytes from 0 to the limit. The last word is filled up with zeros. */
    private void add(ByteBuffer bytes) {
        int alignedBytes = bytes.limit() & -Long.BYTES;
        for (int at = 0; at < alignedBytes; at += Long.BYTES) {
            add(bytes.getLong(at));
        }
        long rest = 0;
        for (int at = alignedBytes; at < bytes.limit(); at++) {
            rest = rest << Byte.SIZE | bytes.get(at) & 0xff;
        }
        if (alignedBytes < bytes.limit()) {
            add(rest);
        }
    }

    private void add(long word) {
        hash = Long.rotateLeft(hash ^ word * FIRST_FACTOR, 29) * SECOND_FACTOR;
    }
}
