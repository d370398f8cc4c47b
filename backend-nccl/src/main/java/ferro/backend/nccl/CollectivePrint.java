package ferro.backend.nccl;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.Tensor;

/** What of a collective must be equal on all ranks, in words; ranks that are stuck compare it. */
final class CollectivePrint {
    private CollectivePrint() {}

    /** Returns the elements of one part: NCCL counts parts, an all-to-all has them side by side in its operand. */
    static long partOf(Collective call, int worldSize) {
        long elements = call.operand().elementCount();
        return call.kind() == CollectiveKind.ALL_TO_ALL ? elements / worldSize : elements;
    }

    /** Returns kind, type, length, op and root, for example {@code allReduce of f32[64] by sum}. */
    static String of(Collective call, int worldSize) {
        Tensor operand = call.operand();
        if (operand == null) {
            return call.kind().label();
        }
        long part = partOf(call, worldSize);
        String how = call.op() == null ? "" : " by " + call.op().name();
        String root = call.root() < 0 ? "" : ", root " + call.root();
        return call.kind() + " of " + operand.dataType().label() + "[" + part + "]" + how + root;
    }
}
