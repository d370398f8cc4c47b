package ferro.collectives.reduce;

/**
 * The operands of one call of a loop. A kernel reuses one object, because a new object per call would have to be
 * allocated.
 */
final class LoopOperands {
    /** Array, or a view from {@link Direct}. */
    Object first;

    /** Index of the first element in an array, or of the first byte in a view. */
    long firstAt;

    Object second;
    long secondAt;

    /** Number of elements, a multiple of the elements of a vector. */
    int count;

    /** Number by which sums are divided or multiplied for an average, or by which operands are multiplied. */
    final double scale;

    LoopOperands(double scale) {
        this.scale = scale;
    }
}
