package ferro.training.checkpoint;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Elements as bytes of a file, which are little endian everywhere. */
final class ByteRun {
    /** Of a buffer between tensors and files, at most; a multiple of every element. */
    static final int BUFFER_BYTES = 1 << 20;

    private static final boolean SWAPS = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private ByteRun() {}

    /** Returns a buffer for so many bytes of a file, or for the next {@link #BUFFER_BYTES} of more; it has one byte or more. */
    static ByteBuffer buffer(long fileBytes) {
        int bytes = (int) Math.max(1, Math.min(BUFFER_BYTES, fileBytes));
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** Puts elements at the begin of a buffer, and sets its limit behind them. */
    static void fill(ByteBuffer buffer, HostTensor from, long first, int count) {
        buffer.clear().limit(count * from.dataType().byteSize());
        HostTensor.of(from.dataType(), buffer).copyFrom(0, from, first, count);
        swap(buffer, from.dataType().byteSize());
    }

    /** Turns bytes of a file, between position and limit of a buffer, into elements. */
    static void toNative(ByteBuffer buffer, int unit) {
        swap(buffer, unit);
    }

    /** Copies elements that have been turned into those of this machine. */
    static void copy(ByteBuffer elements, HostTensor into, long first) {
        HostTensor from = HostTensor.of(into.dataType(), elements.order(ByteOrder.nativeOrder()));
        into.copyFrom(first, from, 0, from.elementCount());
    }

    private static void swap(ByteBuffer buffer, int unit) {
        if (SWAPS) {
            reverse(buffer, unit);
        }
    }

    /** Turns the bytes of each element between position and limit around. */
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
