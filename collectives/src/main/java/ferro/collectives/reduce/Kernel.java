package ferro.collectives.reduce;

import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.ByteBuffer;

/**
 * A loop that combines two runs of elements. {@link KernelFactory#of} chooses the kernel once per call.
 *
 * <p>A kernel owns its blocks of memory, so only one thread at a time may use a kernel. A kernel keeps references to
 * the direct buffers of the last calls.
 */
public abstract class Kernel {
    private final int elementBytes;

    /** Makes a kernel, for subclasses in this package. {@code elementBytes} is the size of an element. */
    Kernel(int elementBytes) {
        this.elementBytes = elementBytes;
    }

    /**
     * Returns how many elements the kernel combines together. Callers combine only multiples of the returned number.
     *
     * @return bytes of a record of {@link ferro.ReduceOp#ofBytes}; 1 for every other op
     */
    public int recordElements() {
        return 1;
    }

    /**
     * Writes {@code into[i] op source[i]} into {@code into[i]}. The two runs may be in one array or buffer if the runs
     * do not overlap.
     *
     * @param into         operand and result: an array of the kernel's type or a direct buffer in native order
     * @param intoOffset   start of the run in {@code into}: an index for an array, bytes of any alignment for a buffer
     * @param source       other operand, an array or a direct buffer like {@code into}
     * @param sourceOffset start of the run in {@code source}, with the same unit as {@code intoOffset}
     * @param count        number of elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     * @throws ClassCastException        if an operand is neither an array of the kernel's type nor a buffer
     */
    public final void combine(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        combine(into, intoOffset, source, sourceOffset, count, false);
    }

    /**
     * Writes {@code into[i] op source[i]} into {@code into[i]}, for tensors that may be in several buffers.
     *
     * @param into     operand and result
     * @param to       index of the first element in {@code into}
     * @param source   other operand
     * @param from     index of the first element in {@code source}
     * @param elements number of elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     * @throws IllegalStateException     if {@code elements} is not a multiple of {@link #recordElements}
     */
    public final void combine(HostTensor into, long to, HostTensor source, long from, long elements) {
        for (long done = 0; done < elements; ) {
            long run = ElementCopier.run(into, to + done, source, from + done, elements - done);
            // a buffer of foreign memory may end inside a record, and the next buffer has the whole record
            long length = run - run % recordElements();
            if (length == 0) {
                throw new IllegalStateException(
                        "found " + run + " elements to combine, need a multiple of " + recordElements());
            }
            combine(
                    TensorMemory.memoryAt(into, to + done),
                    TensorMemory.offsetAt(into, to + done),
                    TensorMemory.memoryAt(source, from + done),
                    TensorMemory.offsetAt(source, from + done),
                    length);
            done += length;
        }
    }

    /**
     * Writes {@code first[i] op second[i]} into both operands, with the same bits. The runs may be in one array or
     * buffer if they do not overlap.
     *
     * @param first        operand and result, an array or a direct buffer as for {@link #combine}
     * @param firstOffset  start of the run in {@code first}: an index for an array, bytes of any alignment for a buffer
     * @param second       other operand, also a result
     * @param secondOffset start of the run in {@code second}, with the same unit as {@code firstOffset}
     * @param count        number of elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     * @throws ClassCastException        if an operand is neither an array of the kernel's type nor a buffer
     */
    public final void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count) {
        combine(first, firstOffset, second, secondOffset, count, true);
    }

    /** Combines as {@link #combine} does, or as {@link #combineBoth} does if {@code both} is true. */
    abstract void combine(Object first, long firstOffset, Object second, long secondOffset, long count, boolean both);

    /**
     * Returns the offset of the element after {@code elements} elements of a run: an index for an array, bytes for a
     * buffer.
     */
    final long at(Object memory, long offset, long elements) {
        return offset + elements * (memory instanceof ByteBuffer ? elementBytes : 1);
    }
}
