package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.ByteBuffer;

/**
 * Copies of runs of elements. An offset is an index in an array, or a number of bytes in a buffer. Any thread may call
 * these methods.
 */
public final class Elements {
    private Elements() {}

    /**
     * Copies elements unchanged. The two runs may be in one array or buffer and may overlap.
     *
     * <p>A copy between two arrays, two buffers, or a {@code byte[]} and a buffer allocates nothing. A copy between
     * another array and a buffer allocates a typed view of a few dozen bytes, which the JIT compiler may remove.
     *
     * @param type         element type
     * @param into         array of the type or direct buffer in native order
     * @param intoOffset   where the run begins in {@code into}
     * @param source       array or direct buffer, as {@code into}
     * @param sourceOffset where the run begins in {@code source}
     * @param count        number of elements
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
     * Returns the offset of an element in the memory of its tensor, for {@link #copy} and {@link Kernel#combine}.
     *
     * @param tensor  tensor
     * @param element index of the element, counted from the start of the tensor
     * @return index for an array, bytes for a buffer
     */
    public static long at(HostTensor tensor, long element) {
        return TensorMemory.offsetAt(tensor, element);
    }

    /**
     * Copies elements of a tensor, which may be in several buffers.
     *
     * @param into     target
     * @param to       first element in it
     * @param source   source of the same type; may overlap the target only if both ranges are identical
     * @param from     first element in it
     * @param elements number of elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     */
    public static void copy(HostTensor into, long to, HostTensor source, long from, long elements) {
        for (long done = 0; done < elements; ) {
            long length = run(into, to + done, source, from + done, elements - done);
            copy(
                    into.dataType(),
                    TensorMemory.memoryAt(into, to + done),
                    TensorMemory.offsetAt(into, to + done),
                    TensorMemory.memoryAt(source, from + done),
                    TensorMemory.offsetAt(source, from + done),
                    length);
            done += length;
        }
    }

    /** Returns how many of the next elements of both tensors are each in one array or buffer. */
    static long run(HostTensor one, long at, HostTensor other, long otherAt, long elements) {
        return Math.min(elements, Math.min(TensorMemory.runAt(one, at), TensorMemory.runAt(other, otherAt)));
    }
}
