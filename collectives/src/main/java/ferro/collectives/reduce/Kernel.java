package ferro.collectives.reduce;

/**
 * Combines two runs of elements; chosen once per call by {@link Kernels#of}.
 *
 * <p>A kernel owns the blocks of memory that it works in, so that only one thread at a time may use it. It keeps a
 * reference to the direct buffers that it saw last.
 */
public abstract class Kernel {
    /** For the kernels of this package. */
    Kernel() {}

    /**
     * Writes {@code into[i] op source[i]} into {@code into[i]}. Both runs may lie in one memory if they do not overlap.
     *
     * @param into         operand and result: an array of the kernel's type or a direct buffer in native order
     * @param intoOffset   where it begins: elements for an array, bytes for a buffer, of any alignment
     * @param source       other operand, as {@code into}
     * @param sourceOffset where it begins, as {@code intoOffset}
     * @param count        elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     * @throws ClassCastException        if a memory is neither of these
     */
    public abstract void combine(Object into, long intoOffset, Object source, long sourceOffset, long count);

    /**
     * Writes {@code first[i] op second[i]} into both, with the same bits. The runs may lie in one memory if they do not
     * overlap.
     *
     * @param first        operand and result, as {@link #combine} needs it
     * @param firstOffset  where it begins: elements for an array, bytes for a buffer, of any alignment
     * @param second       other operand, also a result
     * @param secondOffset where it begins, as {@code firstOffset}
     * @param count        elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     * @throws ClassCastException        if a memory is neither of these
     */
    public abstract void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count);
}
