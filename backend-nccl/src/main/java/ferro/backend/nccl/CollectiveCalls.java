package ferro.backend.nccl;

import ferro.Collective;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.ffi.NcclRooted;
import ferro.backend.nccl.ffi.NcclSendRecv;

/**
 * The native calls of each operation, of one rank; for the device thread, between {@link CommHandle#enter} and leave.
 *
 * <p>Gather, scatter and all-to-all have functions of their own since NCCL 2.28; before, they are sends and receives in one
 * group, which the library may run in any order.
 */
final class CollectiveCalls {
    private final int rank;
    private final int worldSize;
    private final NcclElements elements;
    private final boolean rooted;

    CollectiveCalls(CommPlace place, NcclElements elements, java.util.function.Predicate<NcclCapability> has) {
        this.rank = place.rank();
        this.worldSize = place.worldSize();
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
    record Memory(long in, long out, long count, DataType type) {
        long partOfIn(int part) {
            return in + part * count * type.byteSize();
        }

        long partOfOut(int part) {
            return out + part * count * type.byteSize();
        }
    }

    /** Returns the calls of a whole operation; a barrier is an all-reduce of {@code at}. */
    NcclLane.Calls of(Collective call, Memory at) {
        return switch (NcclOperation.of(call)) {
            case ALL_REDUCE -> allReduce(at, call.op());
            case BROADCAST -> broadcast(at, call.root());
            case REDUCE -> reduce(at, call.op(), call.root());
            case ALL_GATHER -> allGather(at);
            case REDUCE_SCATTER -> reduceScatter(at, call.op());
            case GATHER -> gather(at, call.root());
            case SCATTER -> scatter(at, call.root());
            case ALL_TO_ALL -> allToAll(at);
            // NCCL returns at once from a reduction of nothing, so that one element is the least that waits for anybody
            case BARRIER -> allReduce(at, ReduceOp.SUM);
            default -> throw new UnsupportedOperationException("the NCCL back end has no " + call.kind());
        };
    }

    NcclLane.Calls allReduce(Memory at, ReduceOp op) {
        int type = elements.code(at.type);
        int code = elements.code(at.type, op);
        return (comm, stream) ->
                accept(Nccl.ncclAllReduce(at.in, at.out, at.count, type, code, comm, stream), "ncclAllReduce");
    }

    NcclLane.Calls broadcast(Memory at, int root) {
        int type = elements.code(at.type);
        return (comm, stream) ->
                accept(Nccl.ncclBroadcast(at.in, at.out, at.count, type, root, comm, stream), "ncclBroadcast");
    }

    NcclLane.Calls reduce(Memory at, ReduceOp op, int root) {
        int type = elements.code(at.type);
        int code = elements.code(at.type, op);
        // off the root nothing may be written, so nothing is named there
        long out = rank == root ? at.out : 0;
        return (comm, stream) ->
                accept(Nccl.ncclReduce(at.in, out, at.count, type, code, root, comm, stream), "ncclReduce");
    }

    NcclLane.Calls allGather(Memory at) {
        int type = elements.code(at.type);
        return (comm, stream) ->
                accept(Nccl.ncclAllGather(at.in, at.out, at.count, type, comm, stream), "ncclAllGather");
    }

    NcclLane.Calls reduceScatter(Memory at, ReduceOp op) {
        int type = elements.code(at.type);
        int code = elements.code(at.type, op);
        return (comm, stream) ->
                accept(Nccl.ncclReduceScatter(at.in, at.out, at.count, type, code, comm, stream), "ncclReduceScatter");
    }

    NcclLane.Calls gather(Memory at, int root) {
        int type = elements.code(at.type);
        if (rooted) {
            return (comm, stream) ->
                    accept(NcclRooted.ncclGather(at.in, at.out, at.count, type, root, comm, stream), "ncclGather");
        }
        return grouped((comm, stream) -> {
            for (int from = 0; rank == root && from < worldSize; from++) {
                receive(new Memory(0, at.partOfOut(from), at.count, at.type), from)
                        .make(comm, stream);
            }
            send(at, root).make(comm, stream);
        });
    }

    NcclLane.Calls scatter(Memory at, int root) {
        int type = elements.code(at.type);
        if (rooted) {
            return (comm, stream) ->
                    accept(NcclRooted.ncclScatter(at.in, at.out, at.count, type, root, comm, stream), "ncclScatter");
        }
        return grouped((comm, stream) -> {
            receive(at, root).make(comm, stream);
            for (int to = 0; rank == root && to < worldSize; to++) {
                send(new Memory(at.partOfIn(to), 0, at.count, at.type), to).make(comm, stream);
            }
        });
    }

    NcclLane.Calls allToAll(Memory at) {
        int type = elements.code(at.type);
        if (rooted) {
            return (comm, stream) ->
                    accept(NcclRooted.ncclAlltoAll(at.in, at.out, at.count, type, comm, stream), "ncclAlltoAll");
        }
        return grouped((comm, stream) -> {
            for (int peer = 0; peer < worldSize; peer++) {
                Memory part = new Memory(at.partOfIn(peer), at.partOfOut(peer), at.count, at.type);
                receive(part, peer).make(comm, stream);
                send(part, peer).make(comm, stream);
            }
        });
    }

    NcclLane.Calls send(Memory at, int to) {
        int type = elements.code(at.type);
        return (comm, stream) -> accept(NcclSendRecv.ncclSend(at.in, at.count, type, to, comm, stream), "ncclSend");
    }

    NcclLane.Calls receive(Memory at, int from) {
        int type = elements.code(at.type);
        return (comm, stream) -> accept(NcclSendRecv.ncclRecv(at.out, at.count, type, from, comm, stream), "ncclRecv");
    }

    /** NCCL keeps the depth of groups per thread: one that stays open would swallow every later call. */
    private static NcclLane.Calls grouped(NcclLane.Calls calls) {
        return (comm, stream) -> {
            Checks.nccl(Nccl.ncclGroupStart(), "ncclGroupStart");
            boolean made = false;
            try {
                calls.make(comm, stream);
                made = true;
            } finally {
                int end = Nccl.ncclGroupEnd();
                if (made) {
                    accept(end, "ncclGroupEnd");
                }
            }
        };
    }

    private static void accept(int result, String call) {
        Communicator.accept(result, call);
    }
}
