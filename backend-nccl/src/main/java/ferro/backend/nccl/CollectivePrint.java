package ferro.backend.nccl;

import ferro.Collective;
import ferro.Tensor;
import java.util.Map;

/** What of a collective must be equal on all ranks, in words; ranks that are stuck compare it. */
final class CollectivePrint {
    private static final Map<String, NcclOperation> OPERATIONS = Map.of(
            "allReduce", NcclOperation.ALL_REDUCE,
            "broadcast", NcclOperation.BROADCAST,
            "reduce", NcclOperation.REDUCE,
            "allGather", NcclOperation.ALL_GATHER,
            "reduceScatter", NcclOperation.REDUCE_SCATTER,
            "gather", NcclOperation.GATHER,
            "scatter", NcclOperation.SCATTER,
            "allToAll", NcclOperation.ALL_TO_ALL,
            "barrier", NcclOperation.BARRIER);

    private CollectivePrint() {}

    static NcclOperation operation(Collective call) {
        NcclOperation known = OPERATIONS.get(call.kind());
        if (known == null) {
            throw new UnsupportedOperationException("the NCCL back end has no " + call.kind());
        }
        return known;
    }

    /** Returns kind, type, length, op and root, for example {@code allReduce of f32[64] by sum}. */
    static String of(Collective call, int worldSize) {
        Tensor operand = call.operand();
        if (operand == null) {
            return call.kind();
        }
        long elements = operand.elementCount();
        long part = call.kind().equals("allToAll") ? elements / worldSize : elements;
        String how = call.op() == null ? "" : " by " + call.op().name();
        String root = call.root() < 0 ? "" : ", root " + call.root();
        return call.kind() + " of " + operand.dataType().label() + "[" + part + "]" + how + root;
    }
}
