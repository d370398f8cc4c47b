package ferro.collectives.reduce;

import java.nio.ByteBuffer;

/** A kernel that combines full vectors with {@link Loops}, and the few elements after them with a plain kernel. */
final class VectorKernel extends Kernel {
    /**
     * Elements per call of a loop: enough to pay for the call, and few enough that the loop is soon called often enough
     * to be compiled as a method.
     */
    private static final int BLOCK = 1 << 14;

    private final Loops.BothWays loops;
    private final BlockKernel plain;
    private final long vectorMask;
    private final LoopOperands operands;
    private final Directs directs = new Directs();

    /** Makes a kernel; {@code lanes} is a power of two. */
    VectorKernel(Loops.BothWays loops, BlockKernel plain, int lanes, double scale) {
        this.loops = loops;
        this.plain = plain;
        this.vectorMask = -lanes;
        this.operands = new LoopOperands(scale);
    }

    @Override
    public void combine(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        long vectorized = count & vectorMask;
        begin(into, source, vectorized);
        for (long done = 0; done < vectorized; done += BLOCK) {
            long at = at(into, intoOffset, done);
            long sourceAt = at(source, sourceOffset, done);
            int length = (int) Math.min(BLOCK, vectorized - done);
            if (runs(loops.intoFirst(), at, sourceAt, length)) {
                int ran = operands.count;
                plain.makeCanonical(into, at, ran);
                plain.combine(into, at(into, at, ran), source, at(source, sourceAt, ran), length - ran);
            }
        }
        end();
        if (vectorized < count) {
            plain.combine(
                    into,
                    at(into, intoOffset, vectorized),
                    source,
                    at(source, sourceOffset, vectorized),
                    count - vectorized);
        }
    }

    @Override
    public void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count) {
        long vectorized = count & vectorMask;
        begin(first, second, vectorized);
        for (long done = 0; done < vectorized; done += BLOCK) {
            long firstAt = at(first, firstOffset, done);
            long secondAt = at(second, secondOffset, done);
            int length = (int) Math.min(BLOCK, vectorized - done);
            if (runs(loops.intoBoth(), firstAt, secondAt, length)) {
                int ran = operands.count;
                plain.makeCanonical(first, firstAt, ran);
                plain.makeCanonical(second, secondAt, ran);
                plain.combineBoth(first, at(first, firstAt, ran), second, at(second, secondAt, ran), length - ran);
            }
        }
        end();
        if (vectorized < count) {
            long secondAt = at(second, secondOffset, vectorized);
            plain.combineBoth(first, at(first, firstOffset, vectorized), second, secondAt, count - vectorized);
        }
    }

    private void begin(Object first, Object second, long vectorized) {
        if (vectorized > 0) {
            operands.first = view(first);
            operands.second = view(second);
        }
    }

    /**
     * Runs a loop over one block or over fewer elements. Returns whether a result is NaN or the loop has stopped. The
     * field {@code count} of the operands then has the number of combined elements.
     */
    private boolean runs(Loops these, long firstAt, long secondAt, int length) {
        operands.firstAt = firstAt;
        operands.secondAt = secondAt;
        operands.count = length;
        return these.run(operands);
    }

    /** Drops the references to the caller's memory. */
    private void end() {
        operands.first = null;
        operands.second = null;
    }

    private Object view(Object memory) {
        return memory instanceof ByteBuffer bytes ? directs.of(bytes) : memory;
    }

    private long at(Object memory, long offset, long elements) {
        return offset + elements * (memory instanceof ByteBuffer ? plain.byteSize() : 1);
    }
}
