package ferro.collectives.reduce;

import ferro.DataType;

/**
 * A kernel for sums of multiplied inputs of 16-bit floats. The kernel first computes the products of a block, and adds
 * them while they are in the first-level cache. One loop for products and sums would have too many operations: see
 * {@link Loops}.
 */
final class ProductsFirst extends Kernel {
    private static final int BLOCK = 2048;

    private final Kernel copy;
    private final Kernel sum;
    private final PreMulTarget multiplies;
    private final short[] products = new short[BLOCK];

    /** Makes a kernel from a kernel that copies products and a kernel that adds. */
    ProductsFirst(Kernel copy, Kernel sum, PreMulTarget multiplies) {
        this.copy = copy;
        this.sum = sum;
        this.multiplies = multiplies;
    }

    @Override
    void combine(Object into, long intoOffset, Object source, long sourceOffset, long count, boolean both) {
        long intoUnit = unit(into);
        long sourceUnit = unit(source);
        for (long done = 0; done < count; done += BLOCK) {
            long length = Math.min(BLOCK, count - done);
            long at = intoOffset + done * intoUnit;
            long from = sourceOffset + done * sourceUnit;
            if (multiplies.first()) {
                copy.combine(into, at, into, at, length);
            }
            if (multiplies.second()) {
                copy.combine(products, 0, source, from, length);
                sum.combine(into, at, products, 0, length);
            } else {
                sum.combine(into, at, source, from, length);
            }
        }
        if (both) {
            Elements.copy(DataType.INT16, source, sourceOffset, into, intoOffset, count);
        }
    }

    private static long unit(Object memory) {
        return memory instanceof short[] ? 1 : Short.BYTES;
    }
}
