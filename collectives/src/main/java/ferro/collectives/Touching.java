package ferro.collectives;

import ferro.HostTensor;
import java.nio.ByteBuffer;

/** Whether tensors have memory in common, so that operations on them have to keep their order. */
final class Touching {
    /**
     * Addresses of buffers are known modulo a power of two only ({@link ByteBuffer#alignmentOffset}); with the largest one, memory
     * a whole GiB away counts as the same now and then.
     */
    private static final int ADDRESSES = 1 << 30;

    private Touching() {}

    /** Returns whether two tensors overlap in one array or one buffer; another buffer of the same memory is not looked into. */
    static boolean touch(HostTensor one, HostTensor other) {
        if (one.memory() != other.memory() || one.elementCount() == 0 || other.elementCount() == 0) {
            return false;
        }
        long unit = one.memory() instanceof ByteBuffer ? one.dataType().byteSize() : 1;
        long otherUnit = one.memory() instanceof ByteBuffer ? other.dataType().byteSize() : 1;
        return one.offset() < other.offset() + otherUnit * other.elementCount()
                && other.offset() < one.offset() + unit * one.elementCount();
    }

    /** Returns false only if two tensors, either of them perhaps null, have no byte in common; may be true for others too. */
    static boolean mayTouch(HostTensor one, HostTensor other) {
        if (one == null || other == null || one.elementCount() == 0 || other.elementCount() == 0) {
            return false;
        }
        if (one.memory() == other.memory()) {
            return touch(one, other);
        }
        return one.memory() instanceof ByteBuffer a
                && other.memory() instanceof ByteBuffer b
                && mayTouch(address(a, one), one.byteCount(), address(b, other), other.byteCount());
    }

    private static int address(ByteBuffer buffer, HostTensor tensor) {
        return buffer.alignmentOffset((int) tensor.offset(), ADDRESSES);
    }

    private static boolean mayTouch(int address, long bytes, int otherAddress, long otherBytes) {
        return ((otherAddress - address) & ADDRESSES - 1) < bytes
                || ((address - otherAddress) & ADDRESSES - 1) < otherBytes;
    }
}
