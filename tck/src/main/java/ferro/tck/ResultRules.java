package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.Collective;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Cell;
import ferro.tck.cells.CellCall;
import ferro.tck.cells.Operand;
import ferro.tck.cells.OptionalCells;
import ferro.tck.cells.ReferenceMath;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Tag;

/** Rules 111 to 114 and 122 to 124, about the bits of results, and calls that a back end may refuse. */
interface ResultRules extends TestedBackend {
    /** Checks that sums of floats have the same bits on all ranks and in all runs. */
    @Rule(
            value = 111,
            ranks = {2, 3, 5, 8})
    default void floatsHaveTheSameBitsOnAllRanksAndFromRunToRun(int worldSize) {
        long[][] first = hashesOfRandomSums(worldSize);
        long[][] second = hashesOfRandomSums(worldSize);
        for (int rank = 0; rank < worldSize; rank++) {
            for (int call = 0; call < first[rank].length; call++) {
                String what = "bits of all-reduce " + call + " on rank " + rank + " of " + worldSize;
                assertEquals(first[0][call], first[rank][call], what + " compared with rank 0");
                assertEquals(first[rank][call], second[rank][call], what + " compared with another run");
            }
        }
    }

    private long[][] hashesOfRandomSums(int worldSize) {
        int[] lengths = {1, 2, 7, 64, 1000, 40_000};
        long[][] hashes = new long[worldSize][2 * lengths.length];
        eachRank(worldSize, group -> {
            DeviceOperands device = DeviceOperands.of(this, group.rank());
            for (int call = 0; call < hashes[0].length; call++) {
                float[] random = RuleChecks.magnitudes(lengths[call / 2], group.rank() * 1000L + call / 2);
                Operand data = Operand.unwritten(
                        DataType.FLOAT32, lengths[call / 2], Operand.OperandMemory.of(group.rank() + call));
                data.fill(index -> ReferenceMath.ofDouble(DataType.FLOAT32, random[index]));
                group.allReduce(device.tensor(data.tensor()), ReduceOp.SUM);
                device.readBack();
                hashes[group.rank()][call] = CellRunner.hash(data);
            }
            device.close();
        });
        for (long[] ofRank : hashes) {
            for (int call = 1; call < ofRank.length; call += 2) {
                assertEquals(ofRank[call - 1], ofRank[call], "the same all-reduce, twice in one group");
            }
        }
        return hashes;
    }

    /** Checks that a NaN operand gives the canonical NaN in every op. MIN and MAX order the two zeros by sign. */
    @Rule(value = 112, ranks = 3, needs = CANONICAL_NANS)
    default void nansAreCanonicalAndZerosAreOrdered(ProcessGroup group) {
        float odd = Float.intBitsToFloat(0x7FC0_1234);
        DeviceOperands device = DeviceOperands.of(this, group.rank());
        for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX)) {
            float[] data = {group.rank() == 1 ? odd : 2.5f, group.rank() == 2 ? -0.0f : 0.0f, 1.25f};
            group.allReduce(device.tensor(HostTensor.of(data)), op);
            device.readBack();
            String where = op + " on rank " + group.rank();
            assertEquals(0x7FC0_0000, Float.floatToRawIntBits(data[0]), "bits of NaN by " + where);
            boolean negative = op == ReduceOp.MIN || op == ReduceOp.PRODUCT;
            assertEquals(negative ? 0x8000_0000 : 0, Float.floatToRawIntBits(data[1]), "bits of 0 by " + where);
        }
        device.close();
    }

    /** Checks that an all-reduce sums 64 MiB of floats. */
    @Rule(
            value = 113,
            apart = true,
            ranks = {2, 3})
    @Tag("large")
    default void sixtyFourMebibytesAreSummed(ProcessGroup group) {
        float[] data = new float[16 << 20];
        float[] own = rising(1, group.rank() + 1);
        for (int at = 0; at < data.length; at += own.length) {
            System.arraycopy(own, 0, data, at, Math.min(own.length, data.length - at));
        }
        try (DeviceOperands device = DeviceOperands.of(this, group.rank())) {
            group.allReduce(device.tensor(HostTensor.of(data)), ReduceOp.SUM);
            device.readBack();
        }
        float[] need = rising(group.worldSize(), group.worldSize() * (group.worldSize() + 1) / 2);
        for (int at = 0; at < data.length; at += need.length) {
            int count = Math.min(need.length, data.length - at);
            int wrong = Arrays.mismatch(data, at, at + count, need, 0, count);
            if (wrong >= 0) {
                throw new AssertionError("element " + (at + wrong) + " is " + data[at + wrong] + " on rank "
                        + group.rank() + ", need " + need[wrong]);
            }
        }
    }

    /**
     * Returns a rising sequence of floats. The length of the sequence is a prime number, so that the borders of
     * segments fall on different elements.
     */
    private static float[] rising(int step, int first) {
        float[] elements = new float[8191];
        for (int index = 0; index < elements.length; index++) {
            elements[index] = step * index + first;
        }
        return elements;
    }

    /** Checks that an optional call gives the same result on all ranks, or is refused before data moves. */
    @Rule(114)
    default void anUnsupportedCallIsRefusedWithAReasonBeforeDataMoves() {
        List<Cell> cells = OptionalCells.all();
        boolean[][] done = new boolean[3][cells.size()];
        eachRank(3, group -> {
            for (int number = 0; number < cells.size(); number++) {
                CellCall call = OptionalCells.call(cells.get(number), group.rank(), 3, number);
                try (DeviceOperands device = DeviceOperands.of(this, group.rank())) {
                    done[group.rank()][number] = CellRunner.isDone(this, group, call, device, "" + cells.get(number));
                }
            }
            RuleChecks.works(group);
        });
        assertArrayEquals(done[0], done[1], () -> "calls that ranks 0 and 1 have made, of " + cells);
        assertArrayEquals(done[0], done[2], () -> "calls that ranks 0 and 2 have made, of " + cells);
    }

    /** Checks that a reduce-scatter and an all-reduce of the same elements give the same bits. */
    @Rule(
            value = 124,
            ranks = {2, 3, 4, 5},
            needs = ONE_ORDER)
    default void aPartOfAnAllReduceHasTheBitsOfTheReduceScatter(ProcessGroup group) {
        for (int part : new int[] {1, 7, 300, 5000, aboveASegment() / 2, aboveASegment()}) {
            for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.preMultipliedSum(0.3))) {
                compareWithReduceScatter(group, part, op);
            }
        }
        RuleChecks.works(group);
    }

    private void compareWithReduceScatter(ProcessGroup group, int part, ReduceOp op) {
        float[] data = RuleChecks.magnitudes(part * group.worldSize(), group.rank() * 1000L + part);
        float[] own = new float[part];
        Collective scatter = Collective.reduceScatter(HostTensor.of(data), HostTensor.of(own), op);
        if (CellRunner.isRefused(this, group, scatter, op.name())) {
            return;
        }
        group.reduceScatter(data, own, op);
        group.allReduce(data, op);
        int first = group.rank() * part;
        int wrong = Arrays.mismatch(data, first, first + part, own, 0, part);
        if (wrong >= 0) {
            throw new AssertionError(op.name() + " on rank " + group.rank() + " of world size " + group.worldSize()
                    + ", element " + wrong + " of a part of " + part + " elements: reduceScatter gives " + own[wrong]
                    + ", but allReduce gives " + data[first + wrong]);
        }
    }

    /**
     * Checks that an average of f32 or f64 is the sum of the operands, divided once. An average of two ranks in f16 or
     * bf16 is rounded once.
     */
    @Rule(
            value = 122,
            ranks = {1, 2, 3, 4, 5},
            needs = EXACT_SCALING)
    default void anAverageIsTheSumDividedOnce(ProcessGroup group) {
        for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64)) {
            LongUnaryOperator divided =
                    sum -> ReferenceMath.ofDouble(type, ReferenceMath.toDouble(type, sum) / group.worldSize());
            new ScalingCheck(this, group, type).compare(ReduceOp.AVG, ReduceOp.SUM, own -> own, divided);
        }
        for (DataType type : List.of(DataType.FLOAT16, DataType.BFLOAT16)) {
            if (group.worldSize() == 2) {
                new ScalingCheck(this, group, type).compareMean();
            }
        }
    }

    /** Checks that a pre-multiplied sum is the sum of the products, each of which is rounded once. */
    @Rule(
            value = 123,
            ranks = {1, 2, 3, 4, 5},
            needs = EXACT_SCALING)
    default void aPreMultipliedSumIsTheSumOfRoundedProducts(ProcessGroup group) {
        for (DataType type : DataType.values()) {
            boolean floating = ReferenceMath.isFloating(type);
            double factor = floating ? ScalingCheck.FACTOR : 3;
            LongUnaryOperator product = element -> floating
                    ? ReferenceMath.ofDouble(type, product(type, element, factor))
                    : ReferenceMath.narrow(type, element * (long) factor);
            ReduceOp op = ReduceOp.preMultipliedSum(factor);
            new ScalingCheck(this, group, type).compare(op, ReduceOp.SUM, product, sum -> sum);
        }
    }

    private static double product(DataType type, long element, double factor) {
        double exact = ReferenceMath.toDouble(type, element) * factor;
        return type == DataType.FLOAT64 ? exact : (float) exact;
    }
}
