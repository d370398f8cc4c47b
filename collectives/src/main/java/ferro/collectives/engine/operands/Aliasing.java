package ferro.collectives.engine.operands;

import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.ByteBuffer;

/** Tells whether tensors overlap, so that operations on them have to keep their order. */
public final class Aliasing {
    /**
     * Addresses of buffers are known only modulo a power of two ({@link ByteBuffer#alignmentOffset}). With this one, the
     * largest, memory a whole GiB away is sometimes taken for the same.
     */
    private static final int ADDRESSES = 1 << 30;

    private Aliasing() {}

    /**
     * Returns whether two tensors overlap in one array or one buffer; two different buffers of the same memory are not
     * compared.
     */
    static boolean alias(HostTensor one, HostTensor other) {
        if (TensorMemory.memoryKey(one) != TensorMemory.memoryKey(other)
                || one.elementCount() == 0
                || other.elementCount() == 0) {
            return false;
        }
        long unit = one.isDirect() ? one.dataType().byteSize() : 1;
        long otherUnit = one.isDirect() ? other.dataType().byteSize() : 1;
        return TensorMemory.memoryOffset(one) < TensorMemory.memoryOffset(other) + otherUnit * other.elementCount()
                && TensorMemory.memoryOffset(other) < TensorMemory.memoryOffset(one) + unit * one.elementCount();
    }

    /**
     * Returns false only if two tensors, of which either may be null, share no byte; may return true for tensors that do not
     * overlap.
     */
    public static boolean mayAlias(HostTensor one, HostTensor other) {
        if (one == null || other == null || one.elementCount() == 0 || other.elementCount() == 0) {
            return false;
        }
        if (TensorMemory.memoryKey(one) == TensorMemory.memoryKey(other)) {
            return alias(one, other);
        }
        return one.isDirect()
                && other.isDirect()
                && mayAlias(address(one), one.byteCount(), address(other), other.byteCount());
    }

    private static int address(HostTensor tensor) {
        return ((ByteBuffer) TensorMemory.memoryAt(tensor, 0))
                .alignmentOffset((int) TensorMemory.offsetAt(tensor, 0), ADDRESSES);
    }

    private static boolean mayAlias(int address, long bytes, int otherAddress, long otherBytes) {
        return ((otherAddress - address) & ADDRESSES - 1) < bytes
                || ((address - otherAddress) & ADDRESSES - 1) < otherBytes;
    }
}
