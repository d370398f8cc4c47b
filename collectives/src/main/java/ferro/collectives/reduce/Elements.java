package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;

/** Moves runs of elements. Offsets are elements for an array and bytes for a buffer. Any thread may call. */
public final class Elements {
    private Elements() {}

    /**
     * Copies elements unchanged; correct also where both runs overlap in one array or buffer.
     *
     * <p>Allocates nothing between two arrays, two buffers, or a {@code byte[]} and a buffer. Allocates a typed view (a
     * few dozen bytes, which the JIT compiler may remove) between another array and a buffer.
     *
     * @param type         element type
     * @param into         array of the type or direct buffer in native order
     * @param intoOffset   where the run begins in {@code into}
     * @param source       as {@code into}
     * @param sourceOffset where the run begins in {@code source}
     * @param count        elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     */
    public static void copy(DataType type, Object into, long intoOffset, Object source, long sourceOffset, long count) {
        if (count == 0) {
            return;
        }
        int length = Math.toIntExact(count);
        int to = Math.toIntExact(intoOffset);
        int from = Math.toIntExact(sourceOffset);
        if (into instanceof ByteBuffer bytes) {
            if (source instanceof ByteBuffer other) {
                bytes.put(to, other, from, length * type.byteSize());
            } else {
                type.carrier().write(bytes, to, source, from, length);
            }
        } else if (source instanceof ByteBuffer bytes) {
            type.carrier().read(bytes, from, into, to, length);
        } else {
            System.arraycopy(source, from, into, to, length);
        }
    }

    /**
     * Returns the position of an element of a tensor in its memory, as {@link #copy} and {@link Kernel#combine} need it.
     *
     * @param tensor  tensor
     * @param element index of the element, counted from the start of the tensor
     * @return elements for an array, bytes for a buffer
     */
    public static long at(HostTensor tensor, long element) {
        long unit = tensor.memory() instanceof ByteBuffer ? tensor.dataType().byteSize() : 1;
        return tensor.offset() + element * unit;
    }
}
