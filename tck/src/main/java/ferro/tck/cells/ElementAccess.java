package ferro.tck.cells;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/**
 * Methods that read and write elements in any kind of memory. An element is given by its raw bits, sign-extended to a
 * long. Each method copies all elements of a tensor at once, because rules check millions of elements.
 */
public final class ElementAccess {
    private ElementAccess() {}

    /** Returns a copy of the bytes of all elements, in native order. */
    public static ByteBuffer bytes(HostTensor elements) {
        ByteBuffer bytes = unset(elements);
        if (elements.isDirect()) {
            return bytes.put(elements.buffer()).flip();
        }
        int count = (int) elements.elementCount();
        elements.dataType().carrier().write(bytes, 0, elements.memory(), (int) elements.offset(), count);
        return bytes;
    }

    private static ByteBuffer unset(HostTensor elements) {
        return ByteBuffer.allocate((int) elements.byteCount()).order(ByteOrder.nativeOrder());
    }

    /** Returns the bits of all elements. */
    public static long[] of(HostTensor elements) {
        ByteBuffer bytes = bytes(elements);
        int size = elements.dataType().byteSize();
        long[] bits = new long[(int) elements.elementCount()];
        for (int index = 0; index < bits.length; index++) {
            bits[index] = switch (size) {
                case 1 -> bytes.get();
                case 2 -> bytes.getShort();
                case 4 -> bytes.getInt();
                default -> bytes.getLong();
            };
        }
        return bits;
    }

    /** Writes the bits of all elements. An element of less than 64 bits keeps the lowest bits. */
    static void into(HostTensor elements, long[] bits) {
        ByteBuffer bytes = unset(elements);
        int size = elements.dataType().byteSize();
        for (long each : bits) {
            switch (size) {
                case 1 -> bytes.put((byte) each);
                case 2 -> bytes.putShort((short) each);
                case 4 -> bytes.putInt((int) each);
                default -> bytes.putLong(each);
            }
        }
        if (elements.isDirect()) {
            elements.buffer().put(bytes.flip());
        } else {
            elements.dataType().carrier().read(bytes, 0, elements.memory(), (int) elements.offset(), bits.length);
        }
    }

    /** Writes the bits of each element by its index, and returns the tensor. */
    public static HostTensor fill(HostTensor elements, IntToLongFunction byIndex) {
        long[] bits = new long[(int) elements.elementCount()];
        Arrays.setAll(bits, byIndex);
        into(elements, bits);
        return elements;
    }
}
