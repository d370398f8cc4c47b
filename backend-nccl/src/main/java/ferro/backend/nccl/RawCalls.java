package ferro.backend.nccl;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.InvalidRankException;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import ferro.backend.nccl.NcclChecks.Span;
import ferro.backend.nccl.ffi.Cuda;
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
    private final Duration timeout;

    RawCalls(WorkQueue queue, NcclLane lane, NcclChecks checks, Duration timeout) {
        this.queue = queue;
        this.lane = lane;
        this.checks = checks;
        this.timeout = timeout;
    }

    /**
     * A raw call to be checked.
     *
     * @param operation operation of the call
     * @param in        device pointer
     * @param out       device pointer
     * @param shape     count and type of one part
     * @param stream    handle
     */
    record Raw(NcclOperation operation, long in, long out, RawShape shape, long stream) {
        Raw {
            Objects.requireNonNull(shape, "shape");
        }

        CollectiveCalls.CallMemory memory() {
            return new CollectiveCalls.CallMemory(in, out, shape.count(), shape.dataType());
        }
    }

    /**
     * Number of parts of memory that a call uses on this rank.
     *
     * @param in  parts read, 0 if none are
     * @param out parts written, 0 if none are
     */
    record PartCounts(int in, int out) {}

    /** Checks pointers, count, type and overlap. */
    void check(Raw raw, PartCounts parts, ReduceOp op) {
        checks.bytes(raw.operation, raw.shape, worldSize());
        checks.types(raw.shape.dataType(), op);
        Span in = new Span(raw.in, checks.bytes(raw.operation, raw.shape, parts.in));
        Span out = new Span(raw.out, checks.bytes(raw.operation, raw.shape, parts.out));
        checks.pointer(raw.operation, "in", in);
        checks.pointer(raw.operation, "out", out);
        checks.overlap(raw.operation, in, out);
    }

    void checkRank(int rank) {
        InvalidRankException.check(rank, worldSize());
    }

    private int worldSize() {
        return queue.place().worldSize();
    }

    /** Makes a call, after the calls that were submitted before. */
    void make(Raw raw, NcclLane.LaneCalls calls) {
        queue.refuse(raw.operation);
        queue.rawCall(raw.operation, raw.stream);
        run(new Communicator.NativeBatch(raw.operation, false, (member, comm) -> calls.make(comm, raw.stream), null));
    }

    /** Checks that NCCL has the call: gather, scatter and all-to-all may have to be made of sends and receives. */
    void checkSupported(Raw raw) {
        checks.rooted(raw.operation);
    }

    void grouped(Runnable calls) {
        run(new Communicator.NativeBatch(NcclOperation.GROUP, true, (member, comm) -> calls.run(), null));
    }

    void copy(Raw raw) {
        long bytes = checks.bytes(raw.operation, raw.shape, 1);
        Span in = new Span(raw.in, bytes);
        Span out = new Span(raw.out, bytes);
        checks.pointer(raw.operation, "in", in);
        checks.pointer(raw.operation, "out", out);
        if (in.meets(out)) {
            throw new IllegalArgumentException(
                    queue.place().during(raw.operation) + ": the " + bytes + " bytes of in and out overlap");
        }
        run(new Communicator.NativeBatch(
                raw.operation,
                false,
                (member, comm) -> Checks.cuda(
                        Cuda.cudaMemcpyAsync(raw.out, raw.in, bytes, Cuda.DEVICE_TO_DEVICE, raw.stream),
                        "cudaMemcpyAsync D2D"),
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

    /**
     * Runs a batch. A call that is cut off or fails natively ends the group: the ranks no longer agree on the calls
     * that were made.
     */
    private void run(Communicator.NativeBatch batch) {
        queue.refuse(batch.operation());
        try {
            lane.comm().run(batch, queue.deadline(timeout));
        } catch (FerroException failure) {
            boolean refused = failure instanceof NcclException nccl && !Communicator.isFatal(nccl.result());
            if (FATAL.contains(failure.code())
                    && !refused
                    && !lane.comm().thread().isCurrent()) {
                queue.fail(GroupFailure.natively(
                        failure.code(),
                        failure.getMessage(),
                        failure,
                        queue.place().rank()));
            }
            throw failure;
        }
    }
}
