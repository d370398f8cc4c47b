package ferro.training.checkpoint;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The conversion between elements in memory and bytes in a file. The bytes in a file are always little endian. */
final class ElementCodec {
    /** The maximum size of a buffer between tensors and files; a multiple of each element size. */
    static final int BUFFER_BYTES = 1 << 20;

    private static final boolean SWAPS = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private ElementCodec() {}

    /**
     * Allocates a buffer for {@code fileBytes} bytes of a file. The buffer has at least one byte and at most
     * {@link #BUFFER_BYTES}.
     */
    static ByteBuffer buffer(long fileBytes) {
        int bytes = (int) Math.max(1, Math.min(BUFFER_BYTES, fileBytes));
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** Copies elements as bytes of a file to the start of a buffer. Sets the limit to the end of the copied bytes. */
    static void fill(ByteBuffer buffer, HostTensor from, long first, int count) {
        buffer.clear().limit(count * from.dataType().byteSize());
        HostTensor.of(from.dataType(), buffer).copyFrom(0, from, first, count);
        swap(buffer, from.dataType().byteSize());
    }

    /** Converts the bytes of a file between position and limit of a buffer to elements in native byte order. */
    static void toNative(ByteBuffer buffer, int unit) {
        swap(buffer, unit);
    }

    /** Copies elements in native byte order into a tensor. */
    static void copy(ByteBuffer elements, HostTensor into, long first) {
        HostTensor from = HostTensor.of(into.dataType(), elements.order(ByteOrder.nativeOrder()));
        into.copyFrom(first, from, 0, from.elementCount());
    }

    private static void swap(ByteBuffer buffer, int unit) {
        if (SWAPS) {
            reverse(buffer, unit);
        }
    }

    /** Reverses the bytes of each element between position and limit. */
    static void reverse(ByteBuffer buffer, int unit) {
        for (int at = buffer.position(); at < buffer.limit(); at += unit) {
            for (int low = at, high = at + unit - 1; low < high; low++, high--) {
                byte kept = buffer.get(low);
                buffer.put(low, buffer.get(high));
                buffer.put(high, kept);
            }
        }
    }
}
