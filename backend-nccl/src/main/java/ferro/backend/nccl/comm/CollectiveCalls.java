package ferro.backend.nccl.comm;

import ferro.Collective;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.backend.nccl.ffi.Checks;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.ffi.NcclRooted;
import ferro.backend.nccl.ffi.NcclSendRecv;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclOperation;

/**
 * Makes the native calls of each operation of one rank. Used by the device thread only, between
 * {@link CommHandle#enter} and leave.
 *
 * <p>Gather, scatter and all-to-all have functions of their own since NCCL 2.28. Before that they are sends and
 * receives in one group, which the library may run in any order.
 */
final class CollectiveCalls {
    private final int rank;
    private final int worldSize;
    private final NcclElements elements;
    private final boolean rooted;

    CollectiveCalls(CommIdentity identity, NcclElements elements, java.util.function.Predicate<NcclCapability> has) {
        this.rank = identity.rank();
        this.worldSize = identity.worldSize();
        this.elements = elements;
        this.rooted = has.test(NcclCapability.ROOTED);
    }

    /**
     * Memory of a call.
     *
     * @param in    device pointer
     * @param out   device pointer
     * @param count elements of the operand, or of one part where there are parts
     * @param type  of the elements
     */
    record CallMemory(long in, long out, long count, DataType type) {
        long partOfIn(int part) {
            return in + part * count * type.byteSize();
        }

        long partOfOut(int part) {
            return out + part * count * type.byteSize();
        }
    }

    /** Returns the calls of a whole operation; a barrier is an all-reduce of {@code at}. */
    NcclLane.LaneCalls of(Collective call, CallMemory at) {
        return switch (NcclOperation.of(call)) {
            case ALL_REDUCE -> allReduce(at, call.op());
            case BROADCAST -> broadcast(at, call.root());
            case REDUCE -> reduce(at, call.op(), call.root());
            case ALL_GATHER -> allGather(at);
            case REDUCE_SCATTER -> reduceScatter(at, call.op());
            case GATHER -> gather(at, call.root());
            case SCATTER -> scatter(at, call.root());
            case ALL_TO_ALL -> allToAll(at);
            // NCCL returns at once from a reduction of zero elements, so that one element is the smallest call that
            // waits for all ranks
            case BARRIER -> allReduce(at, ReduceOp.SUM);
            default -> throw new UnsupportedOperationException("the NCCL back end has no " + call.kind());
        };
    }

    NcclLane.LaneCalls allReduce(CallMemory at, ReduceOp op) {
        int type = elements.code(at.type);
        int code = elements.code(at.type, op);
        return (comm, stream) ->
                Checks.begun(Nccl.ncclAllReduce(at.in, at.out, at.count, type, code, comm, stream), "ncclAllReduce");
    }

    NcclLane.LaneCalls broadcast(CallMemory at, int root) {
        int type = elements.code(at.type);
        return (comm, stream) ->
                Checks.begun(Nccl.ncclBroadcast(at.in, at.out, at.count, type, root, comm, stream), "ncclBroadcast");
    }

    NcclLane.LaneCalls reduce(CallMemory at, ReduceOp op, int root) {
        int type = elements.code(at.type);
        int code = elements.code(at.type, op);
        long out = onRoot(root, at.out);
        return (comm, stream) ->
                Checks.begun(Nccl.ncclReduce(at.in, out, at.count, type, code, root, comm, stream), "ncclReduce");
    }

    /** Returns an address that only the root passes. The other ranks must not touch that memory, so they pass none. */
    private long onRoot(int root, long address) {
        return rank == root ? address : 0;
    }

    NcclLane.LaneCalls allGather(CallMemory at) {
        int type = elements.code(at.type);
        return (comm, stream) ->
                Checks.begun(Nccl.ncclAllGather(at.in, at.out, at.count, type, comm, stream), "ncclAllGather");
    }

    NcclLane.LaneCalls reduceScatter(CallMemory at, ReduceOp op) {
        int type = elements.code(at.type);
        int code = elements.code(at.type, op);
        return (comm, stream) -> Checks.begun(
                Nccl.ncclReduceScatter(at.in, at.out, at.count, type, code, comm, stream), "ncclReduceScatter");
    }

    NcclLane.LaneCalls gather(CallMemory at, int root) {
        int type = elements.code(at.type);
        if (rooted) {
            long out = onRoot(root, at.out);
            return (comm, stream) ->
                    Checks.begun(NcclRooted.ncclGather(at.in, out, at.count, type, root, comm, stream), "ncclGather");
        }
        return grouped((comm, stream) -> {
            for (int from = 0; rank == root && from < worldSize; from++) {
                receive(new CallMemory(0, at.partOfOut(from), at.count, at.type), from)
                        .make(comm, stream);
            }
            send(at, root).make(comm, stream);
        });
    }

    NcclLane.LaneCalls scatter(CallMemory at, int root) {
        int type = elements.code(at.type);
        if (rooted) {
            long in = onRoot(root, at.in);
            return (comm, stream) ->
                    Checks.begun(NcclRooted.ncclScatter(in, at.out, at.count, type, root, comm, stream), "ncclScatter");
        }
        return grouped((comm, stream) -> {
            receive(at, root).make(comm, stream);
            for (int to = 0; rank == root && to < worldSize; to++) {
                send(new CallMemory(at.partOfIn(to), 0, at.count, at.type), to).make(comm, stream);
            }
        });
    }

    NcclLane.LaneCalls allToAll(CallMemory at) {
        int type = elements.code(at.type);
        if (rooted) {
            return (comm, stream) ->
                    Checks.begun(NcclRooted.ncclAlltoAll(at.in, at.out, at.count, type, comm, stream), "ncclAlltoAll");
        }
        return grouped((comm, stream) -> {
            for (int peer = 0; peer < worldSize; peer++) {
                CallMemory part = new CallMemory(at.partOfIn(peer), at.partOfOut(peer), at.count, at.type);
                receive(part, peer).make(comm, stream);
                send(part, peer).make(comm, stream);
            }
        });
    }

    NcclLane.LaneCalls send(CallMemory at, int to) {
        int type = elements.code(at.type);
        return (comm, stream) ->
                Checks.begun(NcclSendRecv.ncclSend(at.in, at.count, type, to, comm, stream), "ncclSend");
    }

    NcclLane.LaneCalls receive(CallMemory at, int from) {
        int type = elements.code(at.type);
        return (comm, stream) ->
                Checks.begun(NcclSendRecv.ncclRecv(at.out, at.count, type, from, comm, stream), "ncclRecv");
    }

    /**
     * Makes the calls in one NCCL group, and always closes it: NCCL keeps the depth of groups per thread, and an open
     * group would swallow every later call.
     */
    private static NcclLane.LaneCalls grouped(NcclLane.LaneCalls calls) {
        return (comm, stream) -> {
            Checks.nccl(Nccl.ncclGroupStart(), "ncclGroupStart");
            boolean made = false;
            try {
                calls.make(comm, stream);
                made = true;
            } finally {
                int end = Nccl.ncclGroupEnd();
                if (made) {
                    Checks.begun(end, "ncclGroupEnd");
                }
            }
        };
    }
}
