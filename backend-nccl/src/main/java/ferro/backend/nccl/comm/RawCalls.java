package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.InvalidRankException;
import ferro.NcclBackend.RawShape;
import ferro.NcclBackend.RootedOp;
import ferro.ReduceOp;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.comm.NcclChecks.Span;
import ferro.backend.nccl.ffi.Checks;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.queue.NcclFailures;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.WorkQueue;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/**
 * Makes the calls with device pointers: checks them on the caller's thread, makes them on the device thread, and does
 * not wait for the device.
 */
final class RawCalls {
    /** Failures that make the communicator unusable. */
    private static final Set<Code> FATAL = EnumSet.of(Code.TIMED_OUT, Code.INTERRUPTED, Code.NATIVE);

    private final WorkQueue queue;
    private final NcclLane lane;
    private final NcclChecks checks;
    private final CollectiveCalls calls;
    private final Duration timeout;

    RawCalls(OperationParts parts, Duration timeout) {
        this.queue = parts.queue();
        this.lane = parts.lane();
        this.checks = parts.checks();
        this.calls = parts.calls();
        this.timeout = timeout;
    }

    /** A call to be checked: device pointers, count and type of one part, handle of the stream. */
    private record Raw(NcclOperation operation, long in, long out, RawShape shape, long stream) {
        Raw {
            Objects.requireNonNull(shape, "shape");
        }

        CollectiveCalls.CallMemory memory() {
            return new CollectiveCalls.CallMemory(in, out, shape.count(), shape.dataType());
        }
    }

    /** Number of parts of memory that a call reads and writes on this rank, 0 if none. */
    private record PartCounts(int in, int out) {}

    void allReduce(long in, long out, RawShape shape, ReduceOp op, long stream) {
        Raw call = new Raw(NcclOperation.ALL_REDUCE, in, out, shape, stream);
        check(call, new PartCounts(1, 1), Objects.requireNonNull(op, "op"));
        make(call, calls.allReduce(call.memory(), op));
    }

    void broadcast(long in, long out, RawShape shape, int root, long stream) {
        Raw call = new Raw(NcclOperation.BROADCAST, in, out, shape, stream);
        checkRank(call, "root", root);
        check(call, new PartCounts(rank() == root ? 1 : 0, 1), null);
        make(call, calls.broadcast(call.memory(), root));
    }

    void reduce(long in, long out, RawShape shape, RootedOp how, long stream) {
        Raw call = new Raw(NcclOperation.REDUCE, in, out, shape, stream);
        checkRank(call, "root", Objects.requireNonNull(how, "how").root());
        check(call, new PartCounts(1, rank() == how.root() ? 1 : 0), how.op());
        make(call, calls.reduce(call.memory(), how.op(), how.root()));
    }

    void allGather(long in, long out, RawShape shape, long stream) {
        Raw call = new Raw(NcclOperation.ALL_GATHER, in, out, shape, stream);
        check(call, new PartCounts(1, worldSize()), null);
        make(call, calls.allGather(call.memory()));
    }

    void reduceScatter(long in, long out, RawShape shape, ReduceOp op, long stream) {
        Raw call = new Raw(NcclOperation.REDUCE_SCATTER, in, out, shape, stream);
        check(call, new PartCounts(worldSize(), 1), Objects.requireNonNull(op, "op"));
        make(call, calls.reduceScatter(call.memory(), op));
    }

    void gather(long in, long out, RawShape shape, int root, long stream) {
        Raw call = new Raw(NcclOperation.GATHER, in, out, shape, stream);
        checkRank(call, "root", root);
        check(call, new PartCounts(1, rank() == root ? worldSize() : 0), null);
        checkSupported(call);
        make(call, calls.gather(call.memory(), root));
    }

    void scatter(long in, long out, RawShape shape, int root, long stream) {
        Raw call = new Raw(NcclOperation.SCATTER, in, out, shape, stream);
        checkRank(call, "root", root);
        check(call, new PartCounts(rank() == root ? worldSize() : 0, 1), null);
        checkSupported(call);
        make(call, calls.scatter(call.memory(), root));
    }

    void allToAll(long in, long out, RawShape shape, long stream) {
        Raw call = new Raw(NcclOperation.ALL_TO_ALL, in, out, shape, stream);
        check(call, new PartCounts(worldSize(), worldSize()), null);
        checkSupported(call);
        make(call, calls.allToAll(call.memory()));
    }

    void send(long in, RawShape shape, int to, long stream) {
        Raw call = new Raw(NcclOperation.SEND, in, 0, shape, stream);
        checkRank(call, "to", to);
        checks.messages(call.operation(), 0);
        check(call, new PartCounts(1, 0), null);
        make(call, calls.send(call.memory(), to));
    }

    void recv(long out, RawShape shape, int from, long stream) {
        Raw call = new Raw(NcclOperation.RECV, 0, out, shape, stream);
        checkRank(call, "from", from);
        checks.messages(call.operation(), 0);
        check(call, new PartCounts(0, 1), null);
        make(call, calls.receive(call.memory(), from));
    }

    /** Checks pointers, count, type and overlap. */
    private void check(Raw raw, PartCounts parts, ReduceOp op) {
        checks.bytes(raw.operation, raw.shape, worldSize());
        checks.types(raw.shape.dataType(), op);
        Span in = new Span(raw.in, checks.bytes(raw.operation, raw.shape, parts.in));
        Span out = new Span(raw.out, checks.bytes(raw.operation, raw.shape, parts.out));
        checks.pointer(raw.operation, "in", in);
        checks.pointer(raw.operation, "out", out);
        checks.overlap(raw.operation, in, out);
    }

    private void checkRank(Raw call, String parameter, int rank) {
        InvalidRankException.check(call.operation.label(), parameter, rank, worldSize());
    }

    private int rank() {
        return queue.identity().rank();
    }

    private int worldSize() {
        return queue.identity().worldSize();
    }

    /** Makes a call, after the calls that were submitted before. */
    private void make(Raw raw, NcclLane.LaneCalls made) {
        queue.refuse(raw.operation);
        queue.rawCall(raw.operation, raw.stream);
        run(new Communicator.NativeBatch(raw.operation, false, (member, comm) -> made.make(comm, raw.stream), null));
    }

    /** Checks that NCCL has the call: gather, scatter and all-to-all may have to be made of sends and receives. */
    private void checkSupported(Raw raw) {
        checks.rooted(raw.operation);
    }

    void grouped(Runnable body) {
        Objects.requireNonNull(body, "body");
        run(new Communicator.NativeBatch(NcclOperation.GROUP, true, (member, comm) -> body.run(), null));
    }

    void copy(long in, long out, RawShape shape, long stream) {
        Raw raw = new Raw(NcclOperation.COPY, in, out, shape, stream);
        long bytes = checks.bytes(raw.operation, raw.shape, 1);
        Span from = new Span(in, bytes);
        Span to = new Span(out, bytes);
        checks.pointer(raw.operation, "in", from);
        checks.pointer(raw.operation, "out", to);
        if (from.meets(to)) {
            throw new IllegalArgumentException(
                    queue.identity().during(raw.operation) + ": the " + bytes + " bytes of in and out overlap");
        }
        run(new Communicator.NativeBatch(
                raw.operation,
                false,
                (member, comm) -> Checks.cuda(
                        Cuda.cudaMemcpyAsync(out, in, bytes, Cuda.DEVICE_TO_DEVICE, stream), "cudaMemcpyAsync D2D"),
                null));
    }

    void waitFor(long before, long stream) {
        run(new Communicator.NativeBatch(
                NcclOperation.PREPARE, false, (member, comm) -> lane.order(before, stream), null));
    }

    void synchronize(long stream) {
        // a raw call that another thread makes meanwhile is registered again
        queue.rawPassed(stream);
        run(new Communicator.NativeBatch(NcclOperation.SYNCHRONIZE, false, (member, comm) -> {}, new long[] {stream}));
    }

    /** Runs a batch. A call that is cut off or fails natively ends the group: ranks no longer agree on their calls. */
    private void run(Communicator.NativeBatch batch) {
        queue.refuse(batch.operation());
        try {
            lane.comm().run(batch, queue.deadline(timeout));
        } catch (FerroException failure) {
            boolean refused = failure instanceof NcclException nccl && !Communicator.isFatal(nccl.result());
            if (FATAL.contains(failure.code())
                    && !refused
                    && !lane.comm().thread().isCurrent()) {
                queue.fail(NcclFailures.natively(
                        failure.code(),
                        failure.getMessage(),
                        failure,
                        queue.identity().rank()));
            }
            throw failure;
        }
    }
}
