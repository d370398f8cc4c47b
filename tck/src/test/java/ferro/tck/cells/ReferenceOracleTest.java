package ferro.tck.cells;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.tck.cells.Operand.OperandMemory;
import java.math.BigInteger;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReferenceOracleTest {
    private static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 7, 8})
    void resultsOfDifferentOpsAndInputsAreDifferent(int worldSize) {
        for (DataType type : DataType.values()) {
            ReferenceOracle values = new ReferenceOracle(type, worldSize);
            for (int index = 0; index < ReferenceOracle.PERIOD; index++) {
                for (ReduceOp made : OPS) {
                    checkOne(values, type, made, index, worldSize);
                }
            }
        }
    }

    private static void checkOne(ReferenceOracle values, DataType type, ReduceOp made, int index, int worldSize) {
        long answer = plain(values, type, made, index, worldSize);
        for (ReduceOp asked : OPS) {
            String wrong =
                    values.right(new CallFactory.RankSpan(0, worldSize), asked).wrong(index, answer);
            String what = made + " for " + asked + " of " + type.label() + " at " + index + " of " + worldSize;
            if (asked == made) {
                assertNull(wrong, what);
            } else {
                assertNotNull(wrong, what);
            }
        }
        boolean chooses = made == ReduceOp.MIN || made == ReduceOp.MAX;
        for (int rank = 0; rank < worldSize && !chooses; rank++) {
            assertNotEquals(values.input(rank, index), answer, made + " equals the input of rank " + rank);
        }
    }

    private static long plain(ReferenceOracle values, DataType type, ReduceOp op, int index, int worldSize) {
        long answer = values.input(0, index);
        for (int rank = 1; rank < worldSize; rank++) {
            long input = values.input(rank, index);
            answer = ReferenceMath.isFloating(type)
                    ? ReferenceMath.ofDouble(
                            type,
                            ReferenceMath.combine(
                                    op, ReferenceMath.toDouble(type, answer), ReferenceMath.toDouble(type, input)))
                    : ReferenceMath.combine(type, op, answer, input);
        }
        return answer;
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 7, 8})
    void aWrappedOrRoundedDownAverageIsDistinguished(int worldSize) {
        for (DataType type : DataType.values()) {
            if (ReferenceMath.isFloating(type)) {
                continue;
            }
            ReferenceOracle values = new ReferenceOracle(type, worldSize);
            ExpectedElements.ExpectedElement averages =
                    values.right(new CallFactory.RankSpan(0, worldSize), ReduceOp.AVG);
            int wrapped = 0;
            int down = 0;
            for (int index = 0; index < ReferenceOracle.PERIOD; index++) {
                long[] operands = operands(values, index, worldSize);
                BigInteger sum = ReferenceMath.exactSum(type, operands);
                BigInteger size = BigInteger.valueOf(worldSize);
                BigInteger held = ReferenceMath.exact(type, ReferenceMath.narrow(type, sum.longValue()));
                wrapped += isDistinguished(averages, index, held.divide(size)) ? 1 : 0;
                BigInteger downward = sum.subtract(sum.mod(size)).divide(size);
                down += isDistinguished(averages, index, downward) ? 1 : 0;
            }
            String where = " of " + type.label() + " at world size " + worldSize;
            assertTrue(wrapped >= ReferenceOracle.PERIOD / 4, wrapped + " sums that wrap" + where);
            boolean signed = !ReferenceMath.isUnsigned(type);
            assertTrue(!signed || down >= ReferenceOracle.PERIOD / 4, down + " averages below zero" + where);
        }
    }

    private static long[] operands(ReferenceOracle values, int index, int worldSize) {
        return LongStream.range(0, worldSize)
                .map(rank -> values.input((int) rank, index))
                .toArray();
    }

    private static boolean isDistinguished(ExpectedElements.ExpectedElement averages, int index, BigInteger average) {
        return averages.wrong(index, average.longValue()) != null;
    }

    @Test
    void operandsNoticeWritesOutsideTheirTensor() {
        for (DataType type : DataType.values()) {
            for (OperandMemory placement : EnumSet.range(OperandMemory.ARRAY, OperandMemory.SEVERAL_BUFFERS)) {
                Operand operand = Operand.unwritten(type, 4, placement).fill(index -> index + 1);
                assertEquals(3, operand.bits()[2], "element 2 of " + type + " in " + placement);
                assertEquals(true, operand.guardsHold(), "guards of " + type + " in " + placement);
                assertEquals(2, operand.part(1, 2).bits()[0], "element 0 of a part of " + type + " in " + placement);
            }
        }
    }
}
