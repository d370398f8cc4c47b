package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.ReduceOp;
import org.junit.jupiter.api.Test;

class ExpectedResultTest {
    @Test
    void reductionsOfThreeRanksEqualThoseByHand() {
        // element 1 of ranks 0, 1, 2 is 5, 2, 4
        assertEquals(11, allReduce(ReduceOp.SUM).whole());
        assertEquals(40, allReduce(ReduceOp.PRODUCT).whole());
        assertEquals(2, allReduce(ReduceOp.MIN).whole());
        assertEquals(5, allReduce(ReduceOp.MAX).whole());
        assertEquals(11.0 / 3, allReduce(ReduceOp.AVG).real());
        assertEquals(3, allReduce(ReduceOp.AVG).whole());
    }

    private static ExpectedResult.ElementValue allReduce(ReduceOp op) {
        return new ExpectedResult(BenchOperation.ALLREDUCE, op, 0, 3, 4).result(1);
    }

    @Test
    void partsComeFromTheRankAndOffsetOfTheCollective() {
        // two elements per rank; inputs are 2 5 3 6 4 2 on rank 0, 4 2 5 3 6 4 on rank 1, 6 4 2 5 3 6 on rank 2
        assertEquals(2, of(BenchOperation.ALLGATHER, 1, 3));
        assertEquals(2, of(BenchOperation.SCATTER, 2, 1));
        assertEquals(5, of(BenchOperation.ALLTOALL, 1, 5));
        assertEquals(3 + 5 + 2, of(BenchOperation.REDUCESCATTER, 1, 0));
        assertEquals(4, of(BenchOperation.REDUCE, 2, 1));
        assertEquals(3 + 5, of(BenchOperation.SCAN, 1, 2));
    }

    private static long of(BenchOperation collective, int rank, int index) {
        return new ExpectedResult(collective, ReduceOp.SUM, rank, 3, 6)
                .result(index)
                .whole();
    }

    @Test
    void aWrongElementIsDetectedForEveryType() {
        for (DataType type : new DataType[] {
            DataType.FLOAT32, DataType.FLOAT64, DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64
        }) {
            MeasuredTensor elements = MeasuredTensor.of(type, 2);
            elements.put(1, 37);

            assertTrue(elements.is(1, ExpectedResult.ElementValue.of(37)), type.label());
            assertFalse(elements.is(1, ExpectedResult.ElementValue.of(36)), type.label());
            assertFalse(elements.is(0, ExpectedResult.ElementValue.of(37)), type.label());
        }
    }

    @Test
    void smallIntegersWrapLikeInTheKernels() {
        MeasuredTensor elements = MeasuredTensor.of(DataType.INT8, 1);
        elements.put(0, (byte) 1296);

        assertTrue(elements.is(0, ExpectedResult.ElementValue.of(1296)));
    }
}
