package ferro.backend.nccl.comm;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.Store;
import ferro.backend.nccl.NcclStreamKind;
import ferro.backend.nccl.NcclVersion;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.dispatch.DeviceMemory;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.stream.IntStream;

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
     * @param keys    place of the records of the ranks
     */
    record CommunicationPath(CudaStream stream, int downgrades, DeviceMemory memory, MeetingKeys keys) {}

    /**
     * Place in the store where the ranks of a group meet.
     *
     * @param store    shared by all ranks
     * @param base     prefix of the keys of this group alone
     * @param family   joined group that it is or was made from; it gives back the store
     * @param ranks    numbers of its ranks in the joined group; null if it is the joined group
     */
    record MeetingKeys(Store store, String base, CommFamily family, int[] ranks) {
        /** Returns the meeting place of a joined group. */
        static MeetingKeys joined(Store store, String base, CommFamily family) {
            return new MeetingKeys(store, base, family, null);
        }
    }

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

    Store store() {
        return path.keys.store;
    }

    /** Returns the numbers of its ranks in the joined group. */
    int[] ranks() {
        return isJoined()
                ? IntStream.range(0, comm.handle().identity().worldSize()).toArray()
                : path.keys.ranks;
    }

    /** Returns whether it was joined, and not made from another group. */
    boolean isJoined() {
        return path.keys.ranks == null;
    }

    CommFamily family() {
        return path.keys.family;
    }

    String base() {
        return path.keys.base;
    }

    /** Gives back the memory of the devices. */
    void release() {
        context.release(DeviceMemory.class);
    }
}
