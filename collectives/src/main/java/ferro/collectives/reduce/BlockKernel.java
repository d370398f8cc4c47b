package ferro.collectives.reduce;

import ferro.DataType;

/**
 * A kernel that combines runs of elements in blocks that stay in the first-level cache.
 *
 * <p>The JIT compiler vectorises a loop over two arrays only if the loop uses the same index for both arrays. The JIT
 * compiler vectorises no loop over a direct buffer. The kernel therefore copies both operands into arrays of one block,
 * combines them from index 0, and copies the result back. Combining in arrays of one block is two to four times as fast
 * as the plain loop.
 *
 * <p>The loop of a kernel always runs to the end of the block. After the elements of a short run, the loop combines
 * zeros. A loop that ended with the run would be compiled for the lengths of the first calls. After a few thousand
 * calls with one element, a loop that ended with the run would stay scalar.
 */
abstract class BlockKernel extends Kernel {
    /** Bytes per block. A block is large enough to pay for the copies, and three blocks fit into 32 KiB. */
    static final int BLOCK_BYTES = 2048;

    /**
     * Maximum number of elements that are combined one by one. For so few elements, combining one by one takes less
     * time than combining a block.
     */
    static final int FEW = 16;

    final DataType type;
    private final int block;
    /** Array of one block, for the first operand. A subclass also has both arrays in fields of its element type. */
    final Object intoBlock;

    final Object sourceBlock;
    private final ElementCopier intoViews = new ElementCopier();
    private final ElementCopier sourceViews = new ElementCopier();
    private PreMulOperands multiplies = PreMulOperands.NEITHER;
    private double factor = 1;
    /** Index from which both blocks contain only zeros. */
    private int used;

    /** Makes a kernel for elements with the size of {@code type}, in blocks of {@code block} elements. */
    BlockKernel(DataType type, int block) {
        super(type.byteSize());
        this.type = type;
        this.block = block;
        this.intoBlock = type.carrier().newArray(block);
        this.sourceBlock = type.carrier().newArray(block);
    }

    /**
     * Sets which operands are multiplied, and their factor. The caller calls this method before the first run of the
     * kernel.
     */
    final BlockKernel multiplying(PreMulOperands which, double by) {
        multiplies = which;
        factor = by;
        return this;
    }

    @Override
    final void combine(Object into, long intoOffset, Object source, long sourceOffset, long count, boolean both) {
        if (multiplies == PreMulOperands.COPY) {
            copyProducts(into, intoOffset, source, sourceOffset, count);
            return;
        }
        if (count <= FEW) {
            combineFew(into, intoOffset, source, sourceOffset, (int) count);
            if (both) {
                sourceViews.copy(type, source, sourceOffset, into, intoOffset, count);
            }
            return;
        }
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            long at = at(into, intoOffset, done);
            long sourceAt = at(source, sourceOffset, done);
            combineBlock(into, at, source, sourceAt, length);
            store(intoBlock, into, at, intoViews, length);
            if (both) {
                store(intoBlock, source, sourceAt, sourceViews, length);
            }
        }
        if (count > 0 && sawNaN((int) Math.min(block, count))) {
            makeCanonical(into, intoOffset, count);
            if (both) {
                makeCanonical(source, sourceOffset, count);
            }
        }
    }

    private void combineFew(Object into, long intoOffset, Object source, long sourceOffset, int count) {
        for (int i = 0; i < count; i++) {
            combineOne(into, at(into, intoOffset, i), source, at(source, sourceOffset, i));
        }
    }

    /** Copies products of elements. The loop runs over the full block, including old elements after a short run. */
    private void copyProducts(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            load(source, at(source, sourceOffset, done), sourceBlock, sourceViews, length);
            multiplySource(factor);
            store(sourceBlock, into, at(into, intoOffset, done), intoViews, length);
        }
    }

    /**
     * Combines up to one block of elements of both operands in this kernel's blocks. The first block holds the result.
     */
    private void combineBlock(Object into, long intoOffset, Object source, long sourceOffset, int length) {
        if (length < used) {
            clear(length, used - length);
        }
        used = length;
        load(into, intoOffset, intoBlock, intoViews, length);
        load(source, sourceOffset, sourceBlock, sourceViews, length);
        if (multiplies.first()) {
            multiplyInto(factor);
        }
        if (multiplies.second()) {
            multiplySource(factor);
        }
        combineBlocks();
    }

    /** Replaces each NaN of a run by the canonical NaN. */
    final void makeCanonical(Object into, long offset, long count) {
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            load(into, at(into, offset, done), intoBlock, intoViews, length);
            canonical(length);
            store(intoBlock, into, at(into, offset, done), intoViews, length);
        }
        used = block;
    }

    /** Returns the factor of the elements of the first operand, or 1. */
    final double firstFactor() {
        return multiplies.first() ? factor : 1;
    }

    /** Returns the factor of the elements of the second operand, or 1. */
    final double secondFactor() {
        return multiplies.second() ? factor : 1;
    }

    /** Combines one element, and replaces a NaN by the canonical NaN. */
    abstract void combineOne(Object into, long intoOffset, Object source, long sourceOffset);

    /** Writes zeros into a part of both blocks. */
    abstract void clear(int from, int length);

    /** Copies a run to the beginning of a block. */
    abstract void load(Object memory, long offset, Object block, ElementCopier views, int length);

    /** Copies the beginning of a block to a run. */
    abstract void store(Object block, Object memory, long offset, ElementCopier views, int length);

    /** Multiplies all elements of the first block. */
    abstract void multiplyInto(double by);

    /** Multiplies all elements of the second block. */
    abstract void multiplySource(double by);

    /** Combines all elements of the two blocks into the first block. */
    abstract void combineBlocks();

    /**
     * Returns whether a result since the last call of this method may be NaN. {@code length} is the length of the
     * longest block since the last call.
     */
    boolean sawNaN(int length) {
        return false;
    }

    /** Replaces each NaN of the first block by the canonical NaN. */
    void canonical(int length) {
        // integers have no NaN
    }
}
