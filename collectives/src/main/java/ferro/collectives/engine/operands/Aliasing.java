package ferro.collectives.engine.operands;

import ferro.HostTensor;
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
        if (one.memory() != other.memory() || one.elementCount() == 0 || other.elementCount() == 0) {
            return false;
        }
        long unit = one.memory() instanceof ByteBuffer ? one.dataType().byteSize() : 1;
        long otherUnit = one.memory() instanceof ByteBuffer ? other.dataType().byteSize() : 1;
        return one.offset() < other.offset() + otherUnit * other.elementCount()
                && other.offset() < one.offset() + unit * one.elementCount();
    }

    /**
     * Returns false only if two tensors, of which either may be null, share no byte; may return true for tensors that do not
     * overlap.
     */
    public static boolean mayAlias(HostTensor one, HostTensor other) {
        if (one == null || other == null || one.elementCount() == 0 || other.elementCount() == 0) {
            return false;
        }
        if (one.memory() == other.memory()) {
            return alias(one, other);
        }
        return one.memory() instanceof ByteBuffer a
                && other.memory() instanceof ByteBuffer b
                && mayAlias(address(a, one), one.byteCount(), address(b, other), other.byteCount());
    }

    private static int address(ByteBuffer buffer, HostTensor tensor) {
        return buffer.alignmentOffset((int) tensor.offset(), ADDRESSES);
    }

    private static boolean mayAlias(int address, long bytes, int otherAddress, long otherBytes) {
        return ((otherAddress - address) & ADDRESSES - 1) < bytes
                || ((address - otherAddress) & ADDRESSES - 1) < otherBytes;
    }
}
