package ferro.backend.nccl.ffi;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Converts between direct buffers and addresses. For host memory only, because reading device memory on the host
 * crashes the JVM.
 */
public final class PointerConverter {
    private PointerConverter() {}

    /**
     * Creates a direct buffer in native order over memory that a library has allocated. The buffer does not prevent
     * that the memory is freed.
     */
    public static ByteBuffer view(long address, int bytes) {
        return new Pointer(address).getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
    }

    /** {@return the address of the byte at the position of a direct buffer} */
    public static long address(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("need a direct buffer, found " + buffer);
        }
        return Pointer.nativeValue(Native.getDirectBufferPointer(buffer)) + buffer.position();
    }
}
