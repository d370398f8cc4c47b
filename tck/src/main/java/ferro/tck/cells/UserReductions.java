package ferro.tck.cells;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.List;

/**
 * User-defined reductions, one in each form. The reductions return the operand of larger magnitude. For x and -x the
 * reductions return the positive operand.
 */
public final class UserReductions {
    /** A commutative op whose result depends on which partial results are combined. */
    public static final ReduceOp ROUNDING = ReduceOp.ofFloats("rounding", (a, b) -> (a + b) / 2 + a * b / 128);

    /** The operands and results of the reductions of {@link #forms}, in f32. */
    public static final Oracle LARGEST = Oracle.of(
            (rank, index) -> Float.floatToRawIntBits(element(rank, index)),
            (a, b) -> Float.floatToRawIntBits(larger(Float.intBitsToFloat((int) a), Float.intBitsToFloat((int) b))));

    private UserReductions() {}

    /** Returns one op for each form of user code. The forms combine single elements, runs of elements, or tensors. */
    public static List<ReduceOp> forms() {
        return List.of(
                ReduceOp.ofFloats("largest", (a, b) -> larger(a, b)),
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

    /**
     * Returns an element. Magnitude and sign depend on rank and index. Each rank has the largest element at some index,
     * and ties occur.
     */
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
