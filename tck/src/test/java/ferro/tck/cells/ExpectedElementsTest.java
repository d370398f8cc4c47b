package ferro.tck.cells;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import ferro.DataType;
import ferro.ReduceOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What looks at many elements at once finds the same as what looks at one. */
class ExpectedElementsTest {
    private static final int RANKS = 3;

    /** More than two periods, and no integer multiple of one. */
    private static final int COUNT = 150;

    /** Inside a period. */
    private static final int FROM = 7;

    @ParameterizedTest
    @EnumSource(DataType.class)
    void oneWrongElementIsFoundAtAnyPosition(DataType type) {
        ReferenceOracle values = new ReferenceOracle(type, RANKS);
        ExpectedElements need = values.reduced(new CallFactory.RankSpan(0, RANKS), ReduceOp.SUM, FROM, COUNT);
        for (int wrong = 0; wrong < COUNT; wrong++) {
            long[] found = sums(values, type, 0);
            assertEquals(-1, need.firstWrong(found), "right sums of " + type.label());
            long right = found[wrong];
            // what one rank gave, and the sums beside, which few bits may not tell from this one
            long[] others = {
                values.input(0, FROM + wrong), found[(wrong + 1) % COUNT], found[(wrong + COUNT - 1) % COUNT]
            };
            for (long other : others) {
                boolean isWrong = values.right(new CallFactory.RankSpan(0, RANKS), ReduceOp.SUM)
                                .wrong(FROM + wrong, other)
                        != null;
                found[wrong] = other;
                assertEquals(isWrong ? wrong : -1, need.firstWrong(found), "first wrong element, of " + type.label());
                assertEquals(isWrong, need.wrong(wrong, other) != null);
            }
            assertNotNull(need.wrong(wrong, values.input(0, FROM + wrong)));
            found[wrong] = right;
            assertEquals(-1, need.firstWrong(found));
        }
    }

    /** Chunks of one result add up in different orders. */
    @Test
    void elementsThatRoundDifferentlyInALaterPeriodAreRight() {
        ReferenceOracle values = new ReferenceOracle(DataType.FLOAT32, RANKS);
        long[] found = sums(values, DataType.FLOAT32, 0);
        long[] up = sums(values, DataType.FLOAT32, 1);
        System.arraycopy(up, ReferenceOracle.PERIOD, found, ReferenceOracle.PERIOD, ReferenceOracle.PERIOD);

        assertEquals(
                -1,
                values.reduced(new CallFactory.RankSpan(0, RANKS), ReduceOp.SUM, FROM, COUNT)
                        .firstWrong(found));
    }

    @Test
    void inputsAndMarksEqualThoseOfSingleElements() {
        for (DataType type : DataType.values()) {
            ReferenceOracle values = new ReferenceOracle(type, RANKS);
            long[] inputs = values.inputs(1, 1000);
            long[] marks = values.marks(2, FROM, 1000);
            for (int index = 0; index < 1000; index++) {
                assertEquals(values.input(1, index), inputs[index], "input " + index + " of " + type.label());
                assertEquals(values.mark(2, FROM + index), marks[index], "mark " + index + " of " + type.label());
            }
        }
    }

    /** Sums by a plain loop; floats so many units in the last place above. */
    private static long[] sums(ReferenceOracle values, DataType type, int above) {
        long[] sums = new long[COUNT];
        for (int index = 0; index < COUNT; index++) {
            long sum = values.input(0, FROM + index);
            for (int rank = 1; rank < RANKS; rank++) {
                long input = values.input(rank, FROM + index);
                sum = ReferenceMath.isFloating(type)
                        ? ReferenceMath.ofDouble(
                                type, ReferenceMath.toDouble(type, sum) + ReferenceMath.toDouble(type, input))
                        : ReferenceMath.combine(type, ReduceOp.SUM, sum, input);
            }
            sums[index] = sum + above;
        }
        return sums;
    }
}
