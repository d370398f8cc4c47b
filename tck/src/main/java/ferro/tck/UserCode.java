package ferro.tck;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.List;

/** Reductions of a user's own, one in each form: the larger by magnitude, of x and -x the positive one. */
final class UserCode {
    /** Commutative, but what comes out depends on which partial results meet. */
    static final ReduceOp ROUNDING = ReduceOp.of("rounding", (float a, float b) -> (a + b) / 2 + a * b / 128);

    private UserCode() {}

    /** By element, by run, and by tensor. */
    static List<ReduceOp> forms() {
        return List.of(
                ReduceOp.of("largest", (float a, float b) -> larger(a, b)),
                ReduceOp.of("largest", DataType.FLOAT32, float[].class, (into, received, count) -> {
                    for (int i = 0; i < count; i++) {
                        into[i] = larger(into[i], received[i]);
                    }
                }),
                ReduceOp.of("largest", (into, received) -> {
                    for (int i = 0; i < into.elementCount(); i++) {
                        into.setFloat(i, larger(into.getFloat(i), received.getFloat(i)));
                    }
                }));
    }

    /** Makes what a rank gives, in another kind of memory for each rank and call. */
    static Operand operand(int rank, int length, int call) {
        Operand operand = Operand.unwritten(DataType.FLOAT32, length, Operand.Placement.of(rank + call));
        return operand.fill(index -> Float.floatToRawIntBits(element(rank, index)));
    }

    /** Compares with a plain loop over all ranks. */
    static void check(Operand data, int worldSize, int rank) {
        long[] bits = data.bits();
        for (int index = 0; index < bits.length; index++) {
            float largest = element(0, index);
            for (int other = 1; other < worldSize; other++) {
                largest = larger(largest, element(other, index));
            }
            float found = Float.intBitsToFloat((int) bits[index]);
            if (found != largest) {
                throw new AssertionError("element " + index + " of " + data.length() + " is " + found + " on rank "
                        + rank + ", need " + largest);
            }
        }
        if (!data.guardsHold()) {
            throw new AssertionError("something beside the " + data.length() + " elements was written on rank " + rank);
        }
    }

    /** Magnitude and sign depend on rank and index, so that every rank has the largest somewhere, and ties come. */
    private static float element(int rank, int index) {
        float magnitude = 1 + (7 * rank + 3 * index) % 11;
        return (rank + index) % 2 == 0 ? magnitude : -magnitude;
    }

    private static float larger(float a, float b) {
        if (Math.abs(a) == Math.abs(b)) {
            return Math.max(a, b);
        }
        return Math.abs(a) > Math.abs(b) ? a : b;
    }
}
