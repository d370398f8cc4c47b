package ferro.training.optimizer;

import ferro.DataType;
import ferro.HostTensor;

/**
 * Blocks of a tensor's elements, which are copied one after another into an array. Update rules compute with blocks.
 *
 * <p>A block is so short that all blocks of an update stay in the first-level cache. The loops of a block are plain
 * loops over arrays, which the JIT compiler turns into vector instructions. The result of an element depends only on
 * the operands of that element. The bits of the result therefore do not depend on where a block begins or ends. Factors
 * are passed in double and rounded to the type of the elements, as PyTorch does.
 *
 * <p>The view of the tensor is created once, and no method allocates memory. One thread at a time may use a block.
 */
abstract sealed class BlockBuffer permits FloatBlock, DoubleBlock {
    /** Maximum number of elements of a block. Four blocks of f64 with this length have 32 KiB. */
    static final int LENGTH = 1024;

    /** Creates a block for a tensor of f32 or f64. */
    static BlockBuffer of(HostTensor tensor) {
        DataType type = tensor.dataType();
        if (type == DataType.FLOAT32) {
            return new FloatBlock(tensor);
        }
        if (type == DataType.FLOAT64) {
            return new DoubleBlock(tensor);
        }
        throw new IllegalArgumentException("cannot update " + tensor + ": need elements of f32 or f64, found "
                + type.label() + "; a 16-bit float loses updates that are smaller than its last bit: keep parameters"
                + " in f32, and send half of the bytes with a GradientHook");
    }

    /** Copies elements of the tensor into the block. */
    abstract void read(int from, int count);

    /** Copies the block into elements of the tensor. */
    abstract void write(int from, int count);

    /** Copies the elements of another block of this type into this block. */
    abstract void copy(BlockBuffer other, int count);

    /** this = this * factor. */
    abstract void scale(double factor, int count);

    /** this = this + factor * other. */
    abstract void addScaled(double factor, BlockBuffer other, int count);

    /**
     * this = this + weight * (other - this). For weights of 0.5 and more, the equivalent form that is exact for weight
     * 1 is used.
     */
    abstract void moveTowards(BlockBuffer other, double weight, int count);

    /** this = this + factor * other * other, multiplied from left to right. */
    abstract void addSquares(double factor, BlockBuffer other, int count);

    /** this = this + factor * average / (sqrt(square) / correction + epsilon). */
    abstract void addRatio(AdamFactors factors, BlockBuffer average, BlockBuffer square, int count);

    /** Returns the sum of all squares, in double. The order of the additions depends only on the count. */
    abstract double squares(int count);

    /** The constants of {@link #addRatio}. Each step changes them in place, so that no step allocates memory. */
    static final class AdamFactors {
        double factor;
        double correction;
        double epsilon;
    }
}
