package ferro.backend.nccl.queue;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.Tensor;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Describes in words the properties of a collective that must be equal on all ranks. Ranks that are stuck compare this
 * text. The text is made when it is asked for. The object refers to no tensor, so it may be kept after the call.
 */
public final class CollectivePrint implements Supplier<String> {
    private final CollectiveKind kind;
    private final String label;
    /** Null for a call without an operand. */
    private final DataType type;

    private final long part;
    /** Null for a call that does not reduce. */
    private final ReduceOp op;

    private final int root;

    /** Takes what a call, with its label or an empty one, must have in common with the calls of other ranks. */
    public CollectivePrint(Collective call, String label, int worldSize) {
        Tensor operand = call.operand();
        this.kind = call.kind();
        this.label = label;
        this.type = operand == null ? null : operand.dataType();
        this.part = operand == null ? 0 : partOf(call, worldSize);
        this.op = call.op();
        this.root = call.root();
    }

    /** Returns the element count of one part: NCCL counts parts, which an all-to-all's operand holds side by side. */
    public static long partOf(Collective call, int worldSize) {
        long elements = call.operand().elementCount();
        return call.kind() == CollectiveKind.ALL_TO_ALL ? elements / worldSize : elements;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CollectivePrint print
                && kind == print.kind
                && label.equals(print.label)
                && type == print.type
                && part == print.part
                && Objects.equals(op, print.op)
                && root == print.root;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * kind.hashCode() + Long.hashCode(part)) + 31 * root + label.hashCode();
    }

    /** Returns kind, label, type, length, op and root, for example {@code allReduce "loss" of f32[64] by sum}. */
    @Override
    public String get() {
        String name = CallOptions.named(kind.label(), label);
        if (type == null) {
            return name;
        }
        String how = op == null ? "" : " by " + op.name();
        String where = root < 0 ? "" : ", root " + root;
        return name + " of " + type.label() + "[" + part + "]" + how + where;
    }
}
