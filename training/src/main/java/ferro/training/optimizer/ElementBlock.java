package ferro.training.optimizer;

import ferro.DataType;
import ferro.HostTensor;

/**
 * Elements of a tensor, one block after the other, in an array of their own type: what rules compute with.
 *
 * <p>A block is so short that all blocks of an update stay in the first-level cache, and its loops are plain ones over arrays, which
 * the JIT compiler turns into vector instructions. The result of an element depends on the operands of that element alone, so its bits
 * do not depend on where a block begins or ends. Factors come in double and are rounded to the type of the elements, as PyTorch does.
 *
 * <p>The view of the tensor is made once: no method allocates. One thread at a time.
 */
abstract sealed class ElementBlock permits FloatBlock, DoubleBlock {
    /** Most elements of a block: four blocks of f64 are 32 KiB. */
    static final int LENGTH = 1024;

    /** Makes blocks of a tensor of f32 or f64. */
    static ElementBlock of(HostTensor tensor) {
        DataType type = tensor.dataType();
        if (type == DataType.FLOAT32) {
            return new FloatBlock(tensor);
        }
        if (type == DataType.FLOAT64) {
            return new DoubleBlock(tensor);
        }
        throw new IllegalArgumentException("cannot update " + tensor + ": need elements of f32 or f64, found "
                + type.label() + "; an update is often smaller than the last bit of a 16-bit float, and lost: keep"
                + " parameters in f32, and send half of the bytes by a GradientHook");
    }

    /** Fills the block with elements of the tensor. */
    abstract void read(int from, int count);

    /** Writes the block to elements of the tensor. */
    abstract void write(int from, int count);

    /** Copies another block of this type. */
    abstract void copy(ElementBlock other, int count);

    /** this = this * factor. */
    abstract void scale(double factor, int count);

    /** this = this + factor * other. */
    abstract void addScaled(double factor, ElementBlock other, int count);

    /** this = this + weight * (other - this), in the form that is exact for the weight 1 where the weight is one half or more. */
    abstract void moveTowards(ElementBlock other, double weight, int count);

    /** this = this + factor * other * other, from the left. */
    abstract void addSquares(double factor, ElementBlock other, int count);

    /** this = this + factor * average / (root of square / correction + epsilon). */
    abstract void addRatio(AdamFactors factors, ElementBlock average, ElementBlock square, int count);

    /** Returns the sum of all squares, in double, in an order that depends on the count alone. */
    abstract double squares(int count);

    /** The constants of {@link #addRatio} in one step; changed by each, so that no step allocates. */
    static final class AdamFactors {
        double factor;
        double correction;
        double epsilon;
    }
}
