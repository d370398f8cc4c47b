package ferro.collectives.reduce;

import java.nio.ByteBuffer;

/** Combines whole vectors by {@link Loops}, and the few elements behind them by a plain kernel. */
final class VectorKernel extends Kernel {
    /** Elements per loop: enough to pay for the call, few enough for a loop to be compiled as a method while it is young. */
    private static final int BLOCK = 1 << 14;

    private final Loops intoFirst;
    private final Loops intoBoth;
    private final BlockKernel plain;
    private final long wholeVectors;
    private final Directs directs = new Directs();

    /** {@code intoBoth} writes results into both operands; {@code lanes} is a power of two. */
    VectorKernel(Loops intoFirst, Loops intoBoth, BlockKernel plain, int lanes) {
        this.intoFirst = intoFirst;
        this.intoBoth = intoBoth;
        this.plain = plain;
        this.wholeVectors = -lanes;
    }

    @Override
    public void combine(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        long whole = count & wholeVectors;
        Object first = whole == 0 ? into : view(into);
        Object second = whole == 0 ? source : view(source);
        for (long done = 0; done < whole; done += BLOCK) {
            long at = at(into, intoOffset, done);
            int length = (int) Math.min(BLOCK, whole - done);
            if (intoFirst.run(first, at, second, at(source, sourceOffset, done), length)) {
                plain.makeCanonical(into, at, length);
            }
        }
        if (whole < count) {
            plain.combine(into, at(into, intoOffset, whole), source, at(source, sourceOffset, whole), count - whole);
        }
    }

    @Override
    public void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count) {
        long whole = count & wholeVectors;
        Object one = whole == 0 ? first : view(first);
        Object other = whole == 0 ? second : view(second);
        for (long done = 0; done < whole; done += BLOCK) {
            long firstAt = at(first, firstOffset, done);
            long secondAt = at(second, secondOffset, done);
            int length = (int) Math.min(BLOCK, whole - done);
            if (intoBoth.run(one, firstAt, other, secondAt, length)) {
                plain.makeCanonical(first, firstAt, length);
                plain.makeCanonical(second, secondAt, length);
            }
        }
        if (whole < count) {
            long secondAt = at(second, secondOffset, whole);
            plain.combineBoth(first, at(first, firstOffset, whole), second, secondAt, count - whole);
        }
    }

    private Object view(Object memory) {
        return memory instanceof ByteBuffer bytes ? directs.of(bytes) : memory;
    }

    private long at(Object memory, long offset, long elements) {
        return offset + elements * (memory instanceof ByteBuffer ? plain.byteSize() : 1);
    }
}
