package ferro.tck;

import ferro.Collective;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.util.ArrayList;
import java.util.List;

/**
 * A call that a back end may refuse without declaring it.
 *
 * @param name   for the report
 * @param call   operation, in a group of three
 * @param out    what it would write
 * @param before hash of {@code out} before the call
 */
record OptionalCall(String name, Collective call, Operand out, long before) {
    /** All of them, as one rank calls them; the same order on every rank. */
    static List<OptionalCall> of(int rank) {
        List<OptionalCall> calls = new ArrayList<>();
        ReduceOp own = ReduceOp.of("first", (into, received) -> {});
        for (DataType type : DataType.values()) {
            if (!Numbers.isFloating(type)) {
                calls.add(reduction(type, ReduceOp.AVG, rank));
                calls.add(reduction(type, ReduceOp.BXOR, rank));
            }
        }
        calls.add(reduction(DataType.INT32, ReduceOp.BAND, rank));
        calls.add(reduction(DataType.INT32, ReduceOp.BOR, rank));
        calls.add(reduction(DataType.FLOAT32, ReduceOp.preMultipliedSum(0.5), rank));
        calls.add(reduction(DataType.FLOAT32, own, rank));
        calls.add(unequalParts(rank));
        return calls;
    }

    private static OptionalCall reduction(DataType type, ReduceOp op, int rank) {
        Values values = new Values(type, 3);
        Operand data = Operand.unwritten(type, 5, Operand.Placement.of(rank));
        data.fill(index -> values.mark(rank, index));
        Collective call = new Collective.AllReduce(data.tensor(), data.tensor(), op);
        return new OptionalCall(op + " of " + type.label(), call, data, Cells.hash(data));
    }

    private static OptionalCall unequalParts(int rank) {
        long[] counts = {1, 3, 2};
        HostTensor in = HostTensor.of(Expect.floats((int) counts[rank], rank + 1));
        Operand out = Operand.unwritten(DataType.FLOAT32, 6, Operand.Placement.of(rank));
        Collective call = new Collective.AllGather(in, out.tensor(), counts);
        return new OptionalCall("unequal parts", call, out, Cells.hash(out));
    }
}
