package ferro.tck;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.tck.cells.Bits;
import ferro.tck.cells.Calls;
import ferro.tck.cells.Numbers;
import ferro.tck.cells.Operand;
import ferro.tck.cells.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;

/**
 * A call that a back end may refuse without declaring the refusal.
 *
 * @param name   name for the report
 * @param call   operation, in a group of three
 * @param out    operand that the call writes
 * @param before hash of {@code out} before the call
 * @param right  expected bits by element index; null if they are not specified
 */
record OptionalCall(String name, Collective call, Operand out, long before, IntToLongFunction right) {
    private static final int RANKS = 3;
    private static final int LENGTH = 5;

    /** Returns all optional calls of one rank, in the same order on every rank. */
    static List<OptionalCall> of(int rank) {
        List<OptionalCall> calls = new ArrayList<>();
        for (DataType type : DataType.values()) {
            boolean floating = Numbers.isFloating(type);
            if (!floating) {
                calls.add(reduction(CollectiveKind.ALL_REDUCE, type, ReduceOp.BAND, rank));
                calls.add(reduction(CollectiveKind.ALL_REDUCE, type, ReduceOp.BOR, rank));
                calls.add(reduction(CollectiveKind.ALL_REDUCE, type, ReduceOp.BXOR, rank));
            }
            if (!Numbers.isHalf(type)) {
                calls.add(reduction(
                        CollectiveKind.ALL_REDUCE, type, ReduceOp.preMultipliedSum(floating ? 0.5 : -3), rank));
            }
            ReduceOp bits = ReduceOp.of("bits", OptionalCall::exclusiveOr);
            calls.add(reduction(CollectiveKind.ALL_REDUCE, type, bits, rank));
            for (CollectiveKind kind : Calls.kinds(CollectiveKind::isScan)) {
                calls.add(reduction(kind, type, bits, rank));
                calls.add(reduction(kind, type, floating ? ReduceOp.preMultipliedSum(-2) : ReduceOp.BXOR, rank));
                if (!floating) {
                    calls.add(reduction(kind, type, ReduceOp.BAND, rank));
                    calls.add(reduction(kind, type, ReduceOp.preMultipliedSum(-3), rank));
                }
            }
        }
        calls.add(reduction(CollectiveKind.REDUCE_SCATTER, DataType.FLOAT32, ReduceOp.preMultipliedSum(-2), rank));
        calls.add(reduction(
                CollectiveKind.REDUCE_SCATTER, DataType.INT16, ReduceOp.of("bits", OptionalCall::exclusiveOr), rank));
        calls.add(unequalParts(rank));
        return calls;
    }

    /** Returns a description of the first wrong element, or null if the result is right. */
    String wrong() {
        if (right == null) {
            return null;
        }
        long[] found = out.bits();
        for (int index = 0; index < found.length; index++) {
            long need = right.applyAsLong(index);
            if (need != found[index]) {
                return name + ": element " + index + ": need bits " + Long.toHexString(need) + ", found "
                        + Long.toHexString(found[index]);
            }
        }
        return null;
    }

    /** Returns whether all ranks get the same result. */
    boolean alike() {
        return call.kind() != CollectiveKind.REDUCE_SCATTER && !call.kind().isScan();
    }

    /**
     * Combines elements by exclusive or. This user-defined op works on every type. The result of this op shows whether
     * an operand is missing or is used twice.
     */
    private static void exclusiveOr(HostTensor into, HostTensor received) {
        long[] left = Bits.of(into);
        long[] right = Bits.of(received);
        Bits.fill(into, index -> left[index] ^ right[index]);
    }

    private static OptionalCall reduction(CollectiveKind kind, DataType type, ReduceOp op, int rank) {
        boolean scatters = kind.hasParts();
        Values values = new Values(type, RANKS);
        Operand in = Operand.unwritten(type, scatters ? RANKS * LENGTH : LENGTH, Operand.OperandMemory.of(rank));
        in.fill(index -> values.mark(rank, index));
        Operand out = scatters ? Operand.unwritten(type, LENGTH, Operand.OperandMemory.of(rank + 1)) : in;
        int from = scatters ? rank * LENGTH : 0;
        Calls.RankSpan ranks = Calls.combined(kind, rank, RANKS);
        return new OptionalCall(
                (kind.isScan() ? kind + " by " : scatters ? "scattered " : "") + op + " of " + type.label(),
                Calls.of(kind, in.tensor(), out.tensor(), op, -1),
                out,
                Cells.hash(out),
                index -> ranks.isEmpty()
                        ? ofNoRank(values, type, op, index, rank)
                        : right(values, type, op, from + index, ranks));
    }

    /** Returns what a rank gets if its result combines no rank: the identity, or with a user-defined op the operand. */
    private static long ofNoRank(Values values, DataType type, ReduceOp op, int index, int rank) {
        if (op.combiner() != null) {
            return values.mark(rank, index);
        }
        return op.factor() == 1 ? Numbers.identity(type, op) : 0;
    }

    /**
     * Returns the expected bits of an element that some ranks combine. The operands are multiples of
     * 0.5, so that their sums are exact in every order.
     */
    private static long right(Values values, DataType type, ReduceOp op, int index, Calls.RankSpan ranks) {
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
        return Numbers.isFloating(type)
                ? Numbers.ofDouble(type, Numbers.toDouble(type, mark) * op.factor())
                : Numbers.narrow(type, mark * (long) op.factor());
    }

    private static long combined(DataType type, ReduceOp op, long left, long right) {
        if (op.combiner() != null) {
            return left ^ right;
        } else if (op.factor() == 1) {
            return Numbers.combine(type, op, left, right);
        }
        return Numbers.isFloating(type)
                ? Numbers.ofDouble(type, Numbers.toDouble(type, left) + Numbers.toDouble(type, right))
                : Numbers.combine(type, ReduceOp.SUM, left, right);
    }

    private static OptionalCall unequalParts(int rank) {
        long[] counts = {1, 3, 2};
        HostTensor in = HostTensor.of(Expect.floats((int) counts[rank], rank + 1));
        Operand out = Operand.unwritten(DataType.FLOAT32, 6, Operand.OperandMemory.of(rank));
        Collective call = Collective.allGather(in, out.tensor(), counts);
        return new OptionalCall("unequal parts", call, out, Cells.hash(out), null);
    }
}
