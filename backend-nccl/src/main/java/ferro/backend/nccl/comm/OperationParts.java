package ferro.backend.nccl.comm;

import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.CommControl;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.WorkQueue;

/**
 * What all operations of one rank share.
 *
 * @param queue  order of the operations
 * @param lane   communicator and stream
 * @param checks made before anything is queued
 * @param calls  native calls of each operation
 * @param stage  memory between host tensors and the device
 */
record OperationParts(WorkQueue queue, NcclLane lane, NcclChecks checks, CollectiveCalls calls, HostStage stage) {
    /** Opens the queue of a member, and makes what its operations need. */
    static OperationParts of(NcclMember member) {
        Communicator comm = member.comm();
        LoadedLibraries libraries = member.libraries();
        NcclChecks checks = new NcclChecks(comm.identity(), libraries);
        CollectiveCalls calls = new CollectiveCalls(comm.identity(), checks.elements(), libraries::has);
        NcclLane lane = new NcclLane(comm, member.streamHandle());
        HostStage stage = new HostStage(member.memory(), comm.identity().device(), NcclMember.STAGE_BYTES);
        WorkQueue queue = new WorkQueue(
                comm, new CommControl(member.keys().position(), comm.identity(), member.timeout(), member.context()));
        queue.recordedAs(member.context(), member.ranks());
        return new OperationParts(queue, lane, checks, calls, stage);
    }

    CommIdentity identity() {
        return queue.identity();
    }
}
