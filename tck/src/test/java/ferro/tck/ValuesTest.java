package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kit's own numbers tell right from wrong. */
class ValuesTest {
    private static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 7, 8})
    void noAnswerOfOneOpPassesForAnotherOrForARanksInput(int worldSize) {
        for (DataType type : DataType.values()) {
            Values values = new Values(type, worldSize);
            for (int index = 0; index < Values.PERIOD; index++) {
                for (ReduceOp made : OPS) {
                    checkOne(values, type, made, index, worldSize);
                }
            }
        }
    }

    private static void checkOne(Values values, DataType type, ReduceOp made, int index, int worldSize) {
        long answer = plain(values, type, made, index, worldSize);
        for (ReduceOp asked : OPS) {
            String wrong = values.wrong(asked, index, answer);
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

    private static long plain(Values values, DataType type, ReduceOp op, int index, int worldSize) {
        long answer = values.input(0, index);
        for (int rank = 1; rank < worldSize; rank++) {
            long input = values.input(rank, index);
            answer = Numbers.isFloating(type)
                    ? Numbers.ofDouble(
                            type, Numbers.combine(op, Numbers.toDouble(type, answer), Numbers.toDouble(type, input)))
                    : Numbers.combine(type, op, answer, input);
        }
        return answer;
    }

    @Test
    void operandsNoticeWritesOutsideTheirTensor() {
        for (DataType type : DataType.values()) {
            for (Operand.Placement placement : Operand.Placement.values()) {
                Operand operand = Operand.unwritten(type, 4, placement).fill(index -> index + 1);
                assertEquals(3, operand.bits(2), "element 2 of " + type + " in " + placement);
                assertEquals(true, operand.guardsHold(), "guards of " + type + " in " + placement);
                assertEquals(2, operand.part(1, 2).bits(0), "element 0 of a part of " + type + " in " + placement);
            }
        }
    }
}
