package ferro.backend.nccl.comm;

import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.NcclOperation;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;

/**
 * Makes calls on a communicator without a queue. {@link NcclRankComm} and {@link NcclComms} use this class. The caller
 * waits for each call, at most for the timeout.
 */
final class DirectCaller {
    private final Communicator comm;
    private final NcclCallChecker checks;
    private final NativeCaller calls;
    private final LoadedLibraries libraries;
    private final Duration timeout;

    DirectCaller(Communicator comm, LoadedLibraries libraries, Duration timeout) {
        this.comm = comm;
        this.checks = new NcclCallChecker(comm.identity(), libraries);
        this.calls = new NativeCaller(comm.identity(), checks);
        this.libraries = libraries;
        this.timeout = timeout;
    }

    /** Returns the calls for one part of a split communicator. */
    DirectCaller of(Communicator part) {
        return new DirectCaller(part, libraries, timeout);
    }

    Communicator comm() {
        return comm;
    }

    NcclCallChecker checks() {
        return checks;
    }

    Deadline deadline() {
        return comm.deadline(timeout);
    }

    /**
     * Returns the native calls of a collective that works in place. {@code root} is -1 if the collective has no root.
     */
    CommStream.StreamCaller inPlace(NcclOperation operation, DeviceTensor tensor, ReduceOp op, int root) {
        long at = tensor.address();
        return calls.of(
                new NativeCaller.NativeCall(operation, at, at, tensor.elementCount(), tensor.dataType(), op, root));
    }

    /**
     * Makes native calls in one NCCL group, and waits for them.
     *
     * @param tensors tensors that are kept reachable until the wait has ended
     * @param made    calls of each member
     * @param streams one stream for each member, until whose end to wait; null to wait only until NCCL has accepted the
     *     calls
     */
    void run(NcclOperation operation, List<DeviceTensor> tensors, Communicator.MemberCaller made, long[] streams) {
        try {
            comm.run(new Communicator.NativeBatch(operation, true, made, streams), deadline());
        } finally {
            Reference.reachabilityFence(tensors);
        }
    }
}
