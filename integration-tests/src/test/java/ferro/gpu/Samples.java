package ferro.gpu;

import ferro.ReduceOp;

/** Floats of every rank and what their reductions give. They are small whole numbers, so that sums are exact. */
final class Samples {
    private Samples() {}

    /** Returns an element of a rank's operand: 2 to 6, never 0 or 1, different between adjacent elements and ranks. */
    static float operand(int rank, long index) {
        return 2 + (index * 3 + rank * 2L) % 5;
    }

    /** Returns an element of the sum over all ranks, or of what is largest. */
    static float reduced(ReduceOp op, int ranks, long index) {
        float value = operand(0, index);
        for (int rank = 1; rank < ranks; rank++) {
            float other = operand(rank, index);
            value = op == ReduceOp.MAX ? Math.max(value, other) : value + other;
        }
        return value;
    }
}
