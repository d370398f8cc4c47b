package ferro.backend.nccl.comm;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.backend.nccl.NcclStreamKind;
import ferro.backend.nccl.NcclVersion;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.queue.GroupPosition;
import ferro.control.group.LeftGroups;
import ferro.dispatch.DeviceMemory;
import ferro.spi.RankContext;
import java.time.Duration;

/**
 * The parts of one rank of a group.
 *
 * @param context   settings and the resources that the groups of this rank share
 * @param comm      communicator, with a thread of its own
 * @param libraries libraries that are loaded
 * @param path       stream and store
 * @param timeout   default deadline
 */
record NcclMember(
        RankContext context, Communicator comm, LoadedLibraries libraries, CommunicationPath path, Duration timeout) {
    /** Size of the pieces in which host memory is copied; the same on every rank. */
    static final int STAGE_BYTES = 4 << 20;

    /**
     * How a rank communicates.
     *
     * @param stream     stream of the collectives
     * @param downgrades number of own streams that the runtime refused
     * @param memory     of the devices
     * @param keys       position of the group among those of the same join
     */
    record CommunicationPath(CudaStream stream, int downgrades, DeviceMemory memory, MeetingKeys keys) {}

    /**
     * What the ranks of a group use to find each other.
     *
     * @param ids    passes the ids of communicators to the other ranks
     * @param base   prefix of the keys of this group alone
     * @param left   groups of the same join that are open, or were left
     * @param position  what its ranks tell each other by
     */
    record MeetingKeys(IdExchange ids, String base, LeftGroups left, GroupPosition position) {}

    CudaStream stream() {
        return path.stream;
    }

    long streamHandle() {
        return path.stream.handle();
    }

    NcclStreamKind streamKind() {
        if (path.stream.owned()) {
            return NcclStreamKind.OWN;
        }
        return path.stream.handle() == Cuda.DEFAULT_STREAM ? NcclStreamKind.DEFAULT : NcclStreamKind.CALLER;
    }

    int streamDowngrades() {
        return path.downgrades;
    }

    DeviceMemory memory() {
        return path.memory;
    }

    DeviceTensor allocate(DataType dataType, long[] shape) {
        return path.memory.allocate(dataType, shape, comm.identity().device());
    }

    NcclVersion version() {
        return libraries.version();
    }

    MeetingKeys keys() {
        return path.keys;
    }

    /** Returns the numbers of its ranks in the joined group. */
    int[] ranks() {
        return path.keys.position.ranks();
    }

    /** Gives back the memory of the devices. */
    void release() {
        context.release(DeviceMemory.class);
    }
}
