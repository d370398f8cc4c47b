package ferro.backend.nccl.queue;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveKind;
import ferro.Tensor;

/**
 * Describes in words the properties of a collective that must be equal on all ranks. Ranks that are stuck compare this
 * text.
 */
public final class CollectivePrint {
    private CollectivePrint() {}

    /**
     * Returns the number of elements of one part: NCCL counts parts, and the operand of an all-to-all holds them side
     * by side.
     */
    public static long partOf(Collective call, int worldSize) {
        long elements = call.operand().elementCount();
        return call.kind() == CollectiveKind.ALL_TO_ALL ? elements / worldSize : elements;
    }

    /** Returns kind, label, type, length, op and root, for example {@code allReduce "loss" of f32[64] by sum}. */
    public static String of(Collective call, String label, int worldSize) {
        Tensor operand = call.operand();
        String name = CallOptions.named(call.kind().label(), label);
        if (operand == null) {
            return name;
        }
        long part = partOf(call, worldSize);
        String how = call.op() == null ? "" : " by " + call.op().name();
        String root = call.root() < 0 ? "" : ", root " + call.root();
        return name + " of " + operand.dataType().label() + "[" + part + "]" + how + root;
    }
}
