package ferro.tck.cells;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.util.ArrayList;
import java.util.List;

/** Calls that a back end may refuse without a declaration of the refusal. */
public final class OptionalCells {
    private static final int LENGTH = 5;

    /**
     * A user-defined op that works on every type. The result of the op shows whether an operand is missing or is used
     * twice.
     */
    private static final ReduceOp BITS = ReduceOp.of("bits", OptionalCells::exclusiveOr);

    private OptionalCells() {}

    private static void exclusiveOr(HostTensor into, HostTensor received) {
        long[] left = ElementAccess.of(into);
        long[] right = ElementAccess.of(received);
        ElementAccess.fill(into, index -> left[index] ^ right[index]);
    }

    /** Returns all optional calls, in the same order on every rank. */
    public static List<Cell> all() {
        List<Cell> cells = new ArrayList<>();
        for (DataType type : DataType.values()) {
            boolean floating = ReferenceMath.isFloating(type);
            for (ReduceOp op : floating ? List.of(BITS) : List.of(BITS, ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)) {
                cells.add(reduction(CollectiveKind.ALL_REDUCE, type, op));
            }
            if (!ReferenceMath.isHalf(type)) {
                cells.add(reduction(CollectiveKind.ALL_REDUCE, type, ReduceOp.preMultipliedSum(floating ? 0.5 : -3)));
            }
            List<ReduceOp> ofScans = floating
                    ? List.of(BITS, ReduceOp.preMultipliedSum(-2))
                    : List.of(BITS, ReduceOp.BXOR, ReduceOp.BAND, ReduceOp.preMultipliedSum(-3));
            for (CollectiveKind kind : CallFactory.kinds(CollectiveKind::isScan)) {
                ofScans.forEach(op -> cells.add(reduction(kind, type, op)));
            }
        }
        cells.add(reduction(CollectiveKind.REDUCE_SCATTER, DataType.FLOAT32, ReduceOp.preMultipliedSum(-2)));
        cells.add(reduction(CollectiveKind.REDUCE_SCATTER, DataType.INT16, BITS));
        cells.add(new Cell(CollectiveKind.ALL_GATHER, DataType.FLOAT32, null, LENGTH, 0, false, true));
        return cells;
    }

    private static Cell reduction(CollectiveKind kind, DataType type, ReduceOp op) {
        return new Cell(kind, type, op, LENGTH, 0, !kind.hasParts());
    }

    /** Builds an optional call on one rank. Operands are multiples of 0.5, so that sums are exact in every order. */
    public static CellCall call(Cell cell, int rank, int worldSize, int number) {
        ReferenceOracle values = new ReferenceOracle(cell.type(), worldSize);
        return CellCall.of(cell, rank, worldSize, number, new Oracle() {
            @Override
            public long[] elements(CollectiveKind kind, int of, int from, int count) {
                return values.marks(of, from, count);
            }

            @Override
            public ExpectedElements reduced(CallFactory.RankSpan ranks, ReduceOp op, int from, int count) {
                long[] results = new long[count];
                for (int at = 0; at < count; at++) {
                    results[at] = result(values, cell.type(), op, from + at, ranks);
                }
                return ExpectedElements.exactly(results);
            }
        });
    }

    private static long result(
            ReferenceOracle values, DataType type, ReduceOp op, int index, CallFactory.RankSpan ranks) {
        if (ranks.isEmpty() && op != BITS) {
            return op.factor() == 1 ? ReferenceMath.identity(type, op) : 0;
        }
        long result = product(type, op, values.mark(ranks.from(), index));
        for (int rank = ranks.from() + 1; rank < ranks.to(); rank++) {
            result = combined(type, op, result, product(type, op, values.mark(rank, index)));
        }
        return result;
    }

    private static long product(DataType type, ReduceOp op, long mark) {
        if (op.factor() == 1) {
            return mark;
        }
        return ReferenceMath.isFloating(type)
                ? ReferenceMath.ofDouble(type, ReferenceMath.toDouble(type, mark) * op.factor())
                : ReferenceMath.narrow(type, mark * (long) op.factor());
    }

    private static long combined(DataType type, ReduceOp op, long left, long right) {
        if (op == BITS) {
            return left ^ right;
        } else if (op.factor() == 1) {
            return ReferenceMath.combine(type, op, left, right);
        }
        return ReferenceMath.isFloating(type)
                ? ReferenceMath.ofDouble(type, ReferenceMath.toDouble(type, left) + ReferenceMath.toDouble(type, right))
                : ReferenceMath.combine(type, ReduceOp.SUM, left, right);
    }
}
