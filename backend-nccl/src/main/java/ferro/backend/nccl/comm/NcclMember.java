package ferro.backend.nccl.comm;

import ferro.Store;
import ferro.backend.nccl.NcclStreamKind;
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
 * @param way       stream and store
 * @param timeout   default deadline
 */
record NcclMember(
        RankContext context, Communicator comm, LoadedLibraries libraries, CommunicationPath way, Duration timeout) {
    /** Size of the pieces in which host memory is copied; the same on every rank. */
    static final int STAGE_BYTES = 4 << 20;

    /**
     * How a rank communicates.
     *
     * @param stream     stream of the collectives
     * @param downgrades number of own streams that the runtime refused
     * @param memory     of the devices
     * @param meeting    place of the records of the ranks
     */
    record CommunicationPath(CudaStream stream, int downgrades, DeviceMemory memory, MeetingKeys meeting) {}

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
        return way.stream;
    }

    NcclStreamKind streamKind() {
        if (way.stream.owned()) {
            return NcclStreamKind.OWN;
        }
        return way.stream.handle() == Cuda.DEFAULT_STREAM ? NcclStreamKind.DEFAULT : NcclStreamKind.CALLER;
    }

    int streamDowngrades() {
        return way.downgrades;
    }

    DeviceMemory memory() {
        return way.memory;
    }

    Store store() {
        return way.meeting.store;
    }

    /** Returns the numbers of its ranks in the joined group. */
    int[] ranks() {
        return isJoined()
                ? IntStream.range(0, comm.handle().place().worldSize()).toArray()
                : way.meeting.ranks;
    }

    /** Returns whether it was joined, and not made from another group. */
    boolean isJoined() {
        return way.meeting.ranks == null;
    }

    CommFamily family() {
        return way.meeting.family;
    }

    String base() {
        return way.meeting.base;
    }

    /** Gives back the memory of the devices. */
    void release() {
        context.release(DeviceMemory.class);
    }
}
