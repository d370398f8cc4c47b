package ferro.backend.nccl.comm;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.ffi.NcclRootedFunctions;
import ferro.backend.nccl.ffi.NcclSendRecvFunctions;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclOperation;
import java.util.Objects;

/**
 * Makes the native calls of the operations of one rank. Used by the device thread only, between {@link
 * CommHandle#enter} and {@link CommHandle#leave}.
 *
 * <p>Since 2.28, NCCL has functions for gather, scatter and all-to-all. With older releases, these collectives are
 * sends and receives in one NCCL group, which NCCL may run in any order.
 */
final class NativeCaller {
    private final CommIdentity identity;
    private final NcclCallChecker checks;
    private final boolean rooted;

    NativeCaller(CommIdentity identity, NcclCallChecker checks) {
        this.identity = identity;
        this.checks = checks;
        this.rooted = checks.has(NcclCapability.ROOTED);
    }

    CommIdentity identity() {
        return identity;
    }

    /**
     * One call of the library.
     *
     * @param operation collective, send or receive; or a copy, if only the number of bytes is needed
     * @param in        device pointer
     * @param out       device pointer
     * @param count     number of elements of the operand, or of one part if the operand has parts
     * @param type      type of the elements
     * @param op        null if nothing is reduced
     * @param peer      root, or the other rank of a message; -1 for none
     */
    record NativeCall(NcclOperation operation, long in, long out, long count, DataType type, ReduceOp op, int peer) {
        static NativeCall of(Collective call, long in, long out, long count) {
            return new NativeCall(
                    NcclOperation.of(call), in, out, count, call.operand().dataType(), call.op(), call.root());
        }

        /** Returns a raw call. Its {@code op} is null if the operation reduces nothing. */
        static NativeCall raw(NcclOperation operation, long in, long out, RawShape shape, ReduceOp op, int peer) {
            Objects.requireNonNull(shape, "shape");
            ReduceOp how = operation.combines() ? Objects.requireNonNull(op, "op") : null;
            return new NativeCall(operation, in, out, shape.count(), shape.dataType(), how, peer);
        }

        /**
         * Returns a barrier. NCCL returns at once from a reduction of zero elements. A reduction of one element is
         * therefore the smallest call that waits for all ranks.
         */
        static NativeCall barrier(long cell) {
            return new NativeCall(NcclOperation.BARRIER, cell, cell, 1, DataType.FLOAT32, ReduceOp.SUM, -1);
        }

        /** Returns a message of bytes. A message reduces nothing, so NCCL need not know the element type. */
        static NativeCall message(NcclOperation operation, long at, long bytes, int peer) {
            return new NativeCall(operation, at, at, bytes, DataType.INT8, null, peer);
        }

        private long part(long address, DataShare held, int part) {
            return held == DataShare.PART ? address : address + part * count * type.byteSize();
        }
    }

    /** Returns how many parts the data of a call has, on a rank that has data. */
    static int parts(CollectiveKind kind, DataShare held, int worldSize) {
        return kind.hasParts() && held != DataShare.PART ? worldSize : 1;
    }

    /**
     * Returns the native calls of an operation.
     *
     * @throws UnsupportedOperationException if this release of NCCL has no code for the type or the op
     */
    CommStream.StreamCaller of(NativeCall call) {
        int type = checks.code(call.type);
        int op = call.operation.combines() ? checks.code(call.type, call.op) : 0;
        return (comm, stream) -> make(call, type, op, comm, stream);
    }

    private void make(NativeCall call, int type, int op, long comm, long stream) {
        long in = call.in;
        long out = call.out;
        long count = call.count;
        int peer = call.peer;
        switch (call.operation) {
            case ALL_REDUCE, BARRIER ->
                ResultChecker.begun(Nccl.ncclAllReduce(in, out, count, type, op, comm, stream), "ncclAllReduce");
            case BROADCAST ->
                ResultChecker.begun(Nccl.ncclBroadcast(in, out, count, type, peer, comm, stream), "ncclBroadcast");
            case REDUCE ->
                ResultChecker.begun(
                        Nccl.ncclReduce(in, onRoot(call, out), count, type, op, peer, comm, stream), "ncclReduce");
            case ALL_GATHER ->
                ResultChecker.begun(Nccl.ncclAllGather(in, out, count, type, comm, stream), "ncclAllGather");
            case REDUCE_SCATTER ->
                ResultChecker.begun(
                        Nccl.ncclReduceScatter(in, out, count, type, op, comm, stream), "ncclReduceScatter");
            case SEND ->
                ResultChecker.begun(NcclSendRecvFunctions.ncclSend(in, count, type, peer, comm, stream), "ncclSend");
            case RECV ->
                ResultChecker.begun(NcclSendRecvFunctions.ncclRecv(out, count, type, peer, comm, stream), "ncclRecv");
            default -> {
                if (rooted) {
                    makeRooted(call, type, comm, stream);
                } else {
                    Communicator.grouped(() -> exchange(call, type, comm, stream));
                }
            }
        }
    }

    /** Returns the address on the root, and 0 on the other ranks, which must not access the memory. */
    private long onRoot(NativeCall call, long address) {
        return identity.rank() == call.peer ? address : 0;
    }

    private void makeRooted(NativeCall call, int type, long comm, long stream) {
        long in = call.in;
        long out = call.out;
        int root = call.peer;
        switch (call.operation) {
            case GATHER ->
                ResultChecker.begun(
                        NcclRootedFunctions.ncclGather(in, onRoot(call, out), call.count, type, root, comm, stream),
                        "ncclGather");
            case SCATTER ->
                ResultChecker.begun(
                        NcclRootedFunctions.ncclScatter(onRoot(call, in), out, call.count, type, root, comm, stream),
                        "ncclScatter");
            case ALL_TO_ALL ->
                ResultChecker.begun(
                        NcclRootedFunctions.ncclAlltoAll(in, out, call.count, type, comm, stream), "ncclAlltoAll");
            default -> throw new UnsupportedOperationException("the NCCL back end has no " + call.operation.label());
        }
    }

    private void exchange(NativeCall call, int type, long comm, long stream) {
        CollectiveKind kind = call.operation.kind();
        for (int peer = 0; peer < identity.worldSize(); peer++) {
            if (exchanges(kind.out(), peer, call.peer)) {
                long out = call.part(call.out, kind.out(), peer);
                ResultChecker.begun(
                        NcclSendRecvFunctions.ncclRecv(out, call.count, type, peer, comm, stream), "ncclRecv");
            }
            if (exchanges(kind.in(), peer, call.peer)) {
                long in = call.part(call.in, kind.in(), peer);
                ResultChecker.begun(
                        NcclSendRecvFunctions.ncclSend(in, call.count, type, peer, comm, stream), "ncclSend");
            }
        }
    }

    /**
     * Returns whether this rank sends data to a peer or receives data from it. A rank that has a single part exchanges
     * it only with the root.
     */
    private boolean exchanges(DataShare held, int peer, int root) {
        return held == DataShare.PART ? peer == root : held.isAll(identity.rank() == root);
    }
}
