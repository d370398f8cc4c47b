package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;

/**
 * Combines runs in blocks that stay in the first-level cache.
 *
 * <p>The JIT compiler vectorises a loop over two arrays only if both have the same index, and vectorises no loop over a
 * direct buffer. So both operands are copied into arrays of one block, combined there from index 0, and copied back. That
 * is two to four times as fast as the plain loop.
 *
 * <p>The loop over a block always runs to the end of the block, over zeros behind a short run. A loop that ends with the
 * run is compiled for the lengths that came first: after some thousand calls with one element it stays scalar.
 */
abstract class BlockKernel extends Kernel {
    /** Bytes per block: long enough for the loop to pay, short enough for three blocks in 32 KiB. */
    static final int BLOCK_BYTES = 2048;

    /** Up to this many elements are combined one by one, which takes less time than a block. */
    static final int FEW = 16;

    private final DataType type;
    private final int block;
    private Multiplies multiplies = Multiplies.NEITHER;
    private double factor = 1;
    /** Index from which both blocks are zero. */
    private int used;

    /** Makes a kernel for elements as long as {@code type}'s, in blocks of {@code block} elements. */
    BlockKernel(DataType type, int block) {
        this.type = type;
        this.block = block;
    }

    final int byteSize() {
        return type.byteSize();
    }

    /** Makes it multiply operands from now on, before its first run. */
    final BlockKernel multiplying(Multiplies which, double by) {
        multiplies = which;
        factor = by;
        return this;
    }

    @Override
    public final void combine(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        if (multiplies == Multiplies.COPY) {
            copyProducts(into, intoOffset, source, sourceOffset, count);
            return;
        }
        if (count <= FEW) {
            combineFew(into, intoOffset, source, sourceOffset, (int) count);
            return;
        }
        long intoUnit = unit(into);
        long sourceUnit = unit(source);
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            long at = intoOffset + done * intoUnit;
            combineBlock(into, at, source, sourceOffset + done * sourceUnit, length);
            store(into, at, length);
        }
        if (count > 0 && sawNaN((int) Math.min(block, count))) {
            makeCanonical(into, intoOffset, count);
        }
    }

    @Override
    public final void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count) {
        if (count <= FEW) {
            combineFew(first, firstOffset, second, secondOffset, (int) count);
            Elements.copy(type, second, secondOffset, first, firstOffset, count);
            return;
        }
        long firstUnit = unit(first);
        long secondUnit = unit(second);
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            long firstAt = firstOffset + done * firstUnit;
            long secondAt = secondOffset + done * secondUnit;
            combineBlock(first, firstAt, second, secondAt, length);
            store(first, firstAt, length);
            storeSource(second, secondAt, length);
        }
        if (count > 0 && sawNaN((int) Math.min(block, count))) {
            makeCanonical(first, firstOffset, count);
            makeCanonical(second, secondOffset, count);
        }
    }

    private void combineFew(Object into, long intoOffset, Object source, long sourceOffset, int count) {
        long intoUnit = unit(into);
        long sourceUnit = unit(source);
        for (int i = 0; i < count; i++) {
            combineOne(into, intoOffset + i * intoUnit, source, sourceOffset + i * sourceUnit);
        }
    }

    /** The loop runs over the whole block, whatever is behind a short run. */
    private void copyProducts(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        long intoUnit = unit(into);
        long sourceUnit = unit(source);
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            loadSource(source, sourceOffset + done * sourceUnit, length);
            multiplySource(factor);
            storeProducts(into, intoOffset + done * intoUnit, length);
        }
    }

    /** Combines one block's length and leaves the result in the first block. */
    private void combineBlock(Object into, long intoOffset, Object source, long sourceOffset, int length) {
        if (length < used) {
            clear(length, used - length);
        }
        used = length;
        loadInto(into, intoOffset, length);
        loadSource(source, sourceOffset, length);
        if (multiplies.first()) {
            multiplyInto(factor);
        }
        if (multiplies.second()) {
            multiplySource(factor);
        }
        combineBlocks();
    }

    /** Replaces each NaN of a run by the canonical one. */
    final void makeCanonical(Object into, long offset, long count) {
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            loadInto(into, offset + done * unit(into), length);
            canonical(length);
            store(into, offset + done * unit(into), length);
        }
        used = block;
    }

    private long unit(Object memory) {
        return memory instanceof ByteBuffer ? type.byteSize() : 1;
    }

    /** Returns the number by which an element of the first operand is multiplied, or 1. */
    final double firstFactor() {
        return multiplies.first() ? factor : 1;
    }

    /** Returns the number by which an element of the second operand is multiplied, or 1. */
    final double secondFactor() {
        return multiplies.second() ? factor : 1;
    }

    /** Combines one element, and makes a NaN canonical. */
    abstract void combineOne(Object into, long intoOffset, Object source, long sourceOffset);

    /** Writes zeros into a part of both blocks. */
    abstract void clear(int from, int length);

    /** Copies a part of the first operand into its block. */
    abstract void loadInto(Object memory, long offset, int length);

    /** Copies a part of the second operand into its block. */
    abstract void loadSource(Object memory, long offset, int length);

    /** Multiplies the first block, whole. */
    abstract void multiplyInto(double by);

    /** Multiplies the second block, whole. */
    abstract void multiplySource(double by);

    /** Copies the second block to the first operand. */
    abstract void storeProducts(Object memory, long offset, int length);

    /** Combines the two blocks completely, into the first one. */
    abstract void combineBlocks();

    /** Copies the first block back to the first operand. */
    abstract void store(Object memory, long offset, int length);

    /** Copies the first block back to the second operand. */
    abstract void storeSource(Object memory, long offset, int length);

    /** Returns whether a result since the last call may be NaN, and resets that; {@code length} is the longest block. */
    boolean sawNaN(int length) {
        return false;
    }

    /** Replaces each NaN of the first block by the canonical one. */
    void canonical(int length) {
        // integers have none
    }
}
