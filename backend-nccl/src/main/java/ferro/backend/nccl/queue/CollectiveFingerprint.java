package ferro.backend.nccl.queue;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.Tensor;
import java.util.function.Supplier;

/**
 * Describes the properties of a collective that must be equal on all ranks, as text. If a collective hangs, the ranks
 * compare this text. The text is created only when it is needed. The object refers to no tensor, so it may be stored
 * after the call.
 *
 * @param type data type of the operand; null for a call without an operand
 * @param op   reduction; null for a call that does not reduce
 */
public record CollectiveFingerprint(CollectiveKind kind, String label, DataType type, long part, ReduceOp op, int root)
        implements Supplier<String> {
    /**
     * Returns the properties of a call that must be equal on all ranks. {@code label} is empty for a call without a
     * label.
     */
    public static CollectiveFingerprint of(Collective call, String label, int worldSize) {
        Tensor operand = call.operand();
        return new CollectiveFingerprint(
                call.kind(),
                label,
                operand == null ? null : operand.dataType(),
                operand == null ? 0 : partOf(call, worldSize),
                call.op(),
                call.root());
    }

    /**
     * Returns the number of elements of one part, which is the count that NCCL's functions expect. The operand of an
     * all-to-all has one part for each rank.
     */
    public static long partOf(Collective call, int worldSize) {
        long elements = call.operand().elementCount();
        return call.kind() == CollectiveKind.ALL_TO_ALL ? elements / worldSize : elements;
    }

    /** Returns kind, label, type, length, op and root, for example {@code allReduce "loss" of f32[64] by sum}. */
    @Override
    public String get() {
        String name = CallOptions.named(kind.label(), label);
        if (type == null) {
            return name;
        }
        return name + " of " + type.label() + "[" + part + "]" + (op == null ? "" : " by " + op.name())
                + (root < 0 ? "" : ", root " + root);
    }
}
