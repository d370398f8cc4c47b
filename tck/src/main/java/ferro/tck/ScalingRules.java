package ferro.tck;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.tck.cells.Numbers;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 122 and 123, which compare averages and pre-multiplied sums with plain sums, bit by bit. */
public interface ScalingRules extends Subject {
    /**
     * Checks that an average of f32 or f64 is the sum of the operands, divided once. An average of two ranks in f16 or
     * bf16 is rounded once.
     *
     * @param worldSize number of ranks
     */
    @Rule(122)
    @ParameterizedTest(name = "{0} ranks")
    @ValueSource(ints = {1, 2, 3, 4, 5})
    default void anAverageIsTheSumDividedOnce(int worldSize) {
        needs(BackendContract.EXACT_SCALING);
        eachRank(worldSize, group -> {
            for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64)) {
                LongUnaryOperator divided = sum -> Numbers.ofDouble(type, Numbers.toDouble(type, sum) / worldSize);
                new ScaledCalls(this, group, type).compare(ReduceOp.AVG, ReduceOp.SUM, own -> own, divided);
            }
            for (DataType type : List.of(DataType.FLOAT16, DataType.BFLOAT16)) {
                if (worldSize == 2) {
                    new ScaledCalls(this, group, type).compareMean();
                }
            }
        });
    }

    /**
     * Checks that a pre-multiplied sum is the sum of the products, each of which is rounded once.
     *
     * @param worldSize number of ranks
     */
    @Rule(123)
    @ParameterizedTest(name = "{0} ranks")
    @ValueSource(ints = {1, 2, 3, 4, 5})
    default void aPreMultipliedSumIsTheSumOfRoundedProducts(int worldSize) {
        needs(BackendContract.EXACT_SCALING);
        eachRank(worldSize, group -> {
            for (DataType type : DataType.values()) {
                boolean floating = Numbers.isFloating(type);
                double factor = floating ? ScaledCalls.FACTOR : 3;
                LongUnaryOperator product = element -> floating
                        ? Numbers.ofDouble(type, product(type, element, factor))
                        : Numbers.narrow(type, element * (long) factor);
                ReduceOp op = ReduceOp.preMultipliedSum(factor);
                new ScaledCalls(this, group, type).compare(op, ReduceOp.SUM, product, sum -> sum);
            }
        });
    }

    private static double product(DataType type, long element, double factor) {
        double exact = Numbers.toDouble(type, element) * factor;
        return type == DataType.FLOAT64 ? exact : (float) exact;
    }
}
