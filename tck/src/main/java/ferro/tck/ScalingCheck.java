package ferro.tck;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.Cell;
import ferro.tck.cells.CellCall;
import ferro.tck.cells.ExpectedElements;
import ferro.tck.cells.Oracle;
import ferro.tck.cells.ReferenceMath;
import java.util.Arrays;
import java.util.Random;
import java.util.function.LongUnaryOperator;

/** The scaled reductions of one rank on one element type. All ops combine the same elements. */
final class ScalingCheck {
    /** A factor that f32 represents exactly. Types with fewer bits do not represent this factor exactly. */
    static final double FACTOR = 0.3f;

    private final TestedBackend subject;
    private final ProcessGroup group;
    private final DataType type;

    ScalingCheck(TestedBackend subject, ProcessGroup group, DataType type) {
        this.subject = subject;
        this.group = group;
        this.type = type;
    }

    /** This rank's operand, which may be longer than a call, and the expected result; null if it is not checked. */
    private record ScaledOracle(long[] own, long[] need) implements Oracle {
        @Override
        public long[] elements(CollectiveKind kind, int rank, int from, int count) {
            return Arrays.copyOf(own, count);
        }

        @Override
        public ExpectedElements reduced(CallFactory.RankSpan ranks, ReduceOp op, int from, int count) {
            return ExpectedElements.exactly(need == null ? new long[count] : need);
        }
    }

    /**
     * Compares the result of {@code op} with the changed result of {@code other}. The function {@code before} changes
     * the operands of {@code other}. The function {@code after} changes the result of {@code other}.
     */
    void compare(ReduceOp op, ReduceOp other, LongUnaryOperator before, LongUnaryOperator after) {
        for (int length : lengths()) {
            long[] own = random(type, group.rank(), length);
            long[] changed = mapped(own, before);
            for (CollectiveKind kind : CallFactory.kinds(each -> each.combines() && !each.isScan())) {
                for (boolean inPlace : new boolean[] {false, true}) {
                    int part = kind.hasParts() ? length / group.worldSize() : length;
                    Cell cell = new Cell(kind, type, other, part, 0, inPlace);
                    CellCall made = make(cell, length, new ScaledOracle(changed, null));
                    long[] need = made.out() == null ? null : mapped(made.out().bits(), after);
                    same(new Cell(kind, type, op, part, 0, inPlace), length, new ScaledOracle(own, need));
                }
            }
        }
    }

    /** Compares an average of two ranks with the mean of their elements. This method computes the mean. */
    void compareMean() {
        for (int length : lengths()) {
            long[] first = random(type, 0, length);
            long[] second = random(type, 1, length);
            long[] need = new long[length];
            for (int i = 0; i < length; i++) {
                double sum = ReferenceMath.toDouble(type, first[i]) + ReferenceMath.toDouble(type, second[i]);
                need[i] = ReferenceMath.ofDouble(type, sum / 2);
            }
            Cell cell = new Cell(CollectiveKind.ALL_REDUCE, type, ReduceOp.AVG, length, 0, false);
            same(cell, length, new ScaledOracle(group.rank() == 0 ? first : second, need));
        }
    }

    private void same(Cell cell, int number, ScaledOracle scaled) {
        String wrong = make(cell, number, scaled).wrong();
        if (wrong != null) {
            throw new AssertionError(cell + " on rank " + group.rank() + " of " + group.worldSize() + ": " + wrong);
        }
    }

    private CellCall make(Cell cell, int number, Oracle oracle) {
        CellCall made = CellCall.of(cell, group.rank(), group.worldSize(), number, oracle);
        try (DeviceOperands device = DeviceOperands.of(subject, group.rank())) {
            CallFactory.run(group, device.call(made.call()));
            device.readBack();
        }
        return made;
    }

    private static long[] mapped(long[] elements, LongUnaryOperator change) {
        return Arrays.stream(elements).map(change).toArray();
    }

    /** Returns the lengths to check. For f32 on three ranks, one length has parts that are longer than a segment. */
    private int[] lengths() {
        boolean isLong = type == DataType.FLOAT32 && group.worldSize() == 3;
        return isLong ? new int[] {1, 6, 840, 3 * subject.aboveASegment()} : new int[] {1, 6, 840};
    }

    /** Returns the first {@code length} elements of a rank. Arrays of any length begin with the same elements. */
    private static long[] random(DataType type, int rank, int length) {
        Random random = new Random(31L * rank + type.ordinal());
        long[] elements = new long[length];
        for (int i = 0; i < length; i++) {
            elements[i] = ReferenceMath.isFloating(type)
                    ? ReferenceMath.ofDouble(type, random.nextGaussian())
                    : ReferenceMath.narrow(type, random.nextLong());
        }
        return elements;
    }
}
