package ferro.backend.nccl.comm;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.backend.nccl.NcclStreamKind;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.LibraryLoader;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.queue.GroupOrigin;
import ferro.control.group.GroupRegistry;
import ferro.dispatch.DeviceMemory;
import ferro.spi.RankContext;
import java.time.Duration;

/**
 * The resources of one rank of a group.
 *
 * @param context   context with the settings, and with the resources that all groups of this rank share
 * @param comm      communicator, with its thread
 * @param stream     stream of the collectives
 * @param downgrades number of own streams that the runtime refused
 * @param memory     memory of the devices
 * @param keys       what the group's ranks use to find each other
 * @param timeout   default timeout of calls
 */
record MemberResources(
        RankContext context,
        Communicator comm,
        CudaStream stream,
        int downgrades,
        DeviceMemory memory,
        MemberRendezvous keys,
        Duration timeout) {
    /** Size of the pieces in which host memory is copied, in bytes. It must be the same on every rank. */
    static final int STAGE_BYTES = 4 << 20;

    /**
     * What the ranks of a group use to find each other.
     *
     * @param ids    passes the ids of communicators to the other ranks
     * @param base   prefix of the keys that only this group uses
     * @param left   registry of the groups of the same join that are open, or were left
     * @param position  position of the group in its join, with the control messages between its ranks
     */
    record MemberRendezvous(IdExchange ids, String base, GroupRegistry left, GroupOrigin position) {}

    NcclStreamKind streamKind() {
        if (stream.owned()) {
            return NcclStreamKind.OWN;
        }
        return stream.handle() == Cuda.DEFAULT_STREAM ? NcclStreamKind.DEFAULT : NcclStreamKind.CALLER;
    }

    DeviceTensor allocate(DataType dataType, long[] shape) {
        return memory.allocate(dataType, shape, comm.identity().device());
    }

    /** Returns the loaded libraries. */
    LoadedLibraries libraries() {
        return LibraryLoader.loaded().orElseThrow();
    }

    /** Releases the memory of the devices. */
    void release() {
        context.release(DeviceMemory.class);
    }
}
