package ferro.tck;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Calls;
import ferro.tck.cells.Cell;
import ferro.tck.cells.CellCall;
import ferro.tck.cells.ExpectedElements;
import ferro.tck.cells.Numbers;
import ferro.tck.cells.Oracle;
import java.util.Arrays;
import java.util.Random;
import java.util.function.LongUnaryOperator;

/** The scaled reductions of one rank on one element type. All ops combine the same elements. */
final class ScaledCalls {
    /** A factor that f32 represents exactly. Types with fewer bits do not represent this factor exactly. */
    static final double FACTOR = 0.3f;

    private final Subject subject;
    private final ProcessGroup group;
    private final DataType type;

    ScaledCalls(Subject subject, ProcessGroup group, DataType type) {
        this.subject = subject;
        this.group = group;
        this.type = type;
    }

    /** This rank's operand, which may be longer than a call, and the expected result; null if it is not checked. */
    private record Scaled(long[] own, long[] need) implements Oracle {
        @Override
        public long[] elements(CollectiveKind kind, int rank, int from, int count) {
            return Arrays.copyOf(own, count);
        }

        @Override
        public ExpectedElements reduced(Calls.RankSpan ranks, ReduceOp op, int from, int count) {
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
            for (CollectiveKind kind : Calls.kinds(each -> each.combines() && !each.isScan())) {
                for (boolean inPlace : new boolean[] {false, true}) {
                    int part = kind.hasParts() ? length / group.worldSize() : length;
                    Cell cell = new Cell(kind, type, other, part, 0, inPlace);
                    CellCall made = make(cell, length, new Scaled(changed, null));
                    long[] need = made.out() == null ? null : mapped(made.out().bits(), after);
                    same(new Cell(kind, type, op, part, 0, inPlace), length, new Scaled(own, need));
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
                double sum = Numbers.toDouble(type, first[i]) + Numbers.toDouble(type, second[i]);
                need[i] = Numbers.ofDouble(type, sum / 2);
            }
            Cell cell = new Cell(CollectiveKind.ALL_REDUCE, type, ReduceOp.AVG, length, 0, false);
            same(cell, length, new Scaled(group.rank() == 0 ? first : second, need));
        }
    }

    private void same(Cell cell, int number, Scaled scaled) {
        String wrong = make(cell, number, scaled).wrong();
        if (wrong != null) {
            throw new AssertionError(cell + " on rank " + group.rank() + " of " + group.worldSize() + ": " + wrong);
        }
    }

    private CellCall make(Cell cell, int number, Oracle oracle) {
        CellCall made = CellCall.of(cell, group.rank(), group.worldSize(), number, oracle);
        try (OnDevice device = OnDevice.of(subject, group.rank())) {
            Calls.run(group, device.call(made.call()));
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
            elements[i] = Numbers.isFloating(type)
                    ? Numbers.ofDouble(type, random.nextGaussian())
                    : Numbers.narrow(type, random.nextLong());
        }
        return elements;
    }
}
