package ferro.collectives.reduce;

/** What one call of a loop works on. A kernel has one and changes it, since a new one per call would be allocated. */
final class LoopOperands {
    /** Array, or view that {@link Direct} makes. */
    Object first;

    /** First element of an array, first byte of a view. */
    long firstAt;

    Object second;
    long secondAt;

    /** Elements, whole vectors. */
    int count;

    /** What sums of averages are divided by, or multiplied with, or operands are multiplied by. */
    final double scale;

    LoopOperands(double scale) {
        this.scale = scale;
    }
}
