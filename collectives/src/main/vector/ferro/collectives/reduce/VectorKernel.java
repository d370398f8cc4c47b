package ferro.collectives.reduce;

import java.nio.ByteBuffer;

/** A kernel that combines full vectors with {@link Loops}, and the few remaining elements with a plain kernel. */
final class VectorKernel extends Kernel {
    /**
     * Number of elements per call of a loop. With this number, the cost of a call is small, and the loop is soon called
     * often enough to be compiled as a method.
     */
    private static final int BLOCK = 1 << 14;

    private final Loops[] loops;
    private final BlockKernel plain;
    private final long vectorMask;
    private final Loops.Operands operands;
    private final ElementCopier copies = new ElementCopier();

    /** Makes a kernel; {@code lanes} is a power of two. */
    VectorKernel(Loops[] loops, BlockKernel plain, int lanes, double scale) {
        super(plain.type.byteSize());
        this.loops = loops;
        this.plain = plain;
        this.vectorMask = -lanes;
        this.operands = new Loops.Operands(scale);
    }

    @Override
    void combine(Object first, long firstOffset, Object second, long secondOffset, long count, boolean both) {
        long vectorized = count & vectorMask;
        if (vectorized > 0) {
            operands.first = first instanceof ByteBuffer bytes ? DirectVectorAccess.of(copies.views(bytes)) : first;
            operands.second = second instanceof ByteBuffer bytes ? DirectVectorAccess.of(copies.views(bytes)) : second;
        }
        for (long done = 0; done < vectorized; done += BLOCK) {
            long firstAt = at(first, firstOffset, done);
            long secondAt = at(second, secondOffset, done);
            int length = (int) Math.min(BLOCK, vectorized - done);
            if (runs(loops[both ? 1 : 0], firstAt, secondAt, length)) {
                int ran = operands.count;
                plain.makeCanonical(first, firstAt, ran);
                if (both) {
                    plain.makeCanonical(second, secondAt, ran);
                }
                long restAt = at(second, secondAt, ran);
                plain.combine(first, at(first, firstAt, ran), second, restAt, length - ran, both);
            }
        }
        // drops the references to the caller's memory
        operands.first = null;
        operands.second = null;
        if (vectorized < count) {
            long secondAt = at(second, secondOffset, vectorized);
            plain.combine(first, at(first, firstOffset, vectorized), second, secondAt, count - vectorized, both);
        }
    }

    /**
     * Runs a loop over one block or over fewer elements. Returns whether a result is NaN or the loop has stopped. After
     * the call, the field {@code count} of the operands has the number of combined elements.
     */
    private boolean runs(Loops these, long firstAt, long secondAt, int length) {
        operands.firstAt = firstAt;
        operands.secondAt = secondAt;
        operands.count = length;
        return these.run(operands);
    }
}
