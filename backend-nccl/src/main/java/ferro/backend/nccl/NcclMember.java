package ferro.backend.nccl;

import ferro.Store;
import ferro.dispatch.DeviceMemory;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.stream.IntStream;

/**
 * What one rank of a group is made of.
 *
 * @param context   settings and what the groups of this rank share
 * @param comm      communicator, with a thread of its own
 * @param libraries what is loaded
 * @param way       stream and store
 * @param timeout   default deadline
 */
record NcclMember(RankContext context, Communicator comm, LoadedLibraries libraries, Way way, Duration timeout) {
    /** Of pieces in which host memory travels; the same on every rank. */
    static final int STAGE_BYTES = 4 << 20;

    /**
     * How a rank communicates.
     *
     * @param stream     where collectives run
     * @param downgrades how many streams of our own were refused
     * @param memory     of the devices
     * @param meeting    where ranks leave notes
     */
    record Way(CudaStream stream, int downgrades, DeviceMemory memory, Meeting meeting) {}

    /**
     * Where the ranks of a group meet.
     *
     * @param store    shared by all ranks
     * @param base     start of the keys of this group alone
     * @param family   joined group that it is, or is made of; it gives back the store
     * @param ranks    numbers of its ranks in the joined group; null if it is the joined group
     */
    record Meeting(Store store, String base, Family family, int[] ranks) {
        /** Makes the meeting of a joined group. */
        static Meeting joined(Store store, String base, Family family) {
            return new Meeting(store, base, family, null);
        }
    }

    CudaStream stream() {
        return way.stream;
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

    /** Returns whether it was joined, and not made of another group. */
    boolean isJoined() {
        return way.meeting.ranks == null;
    }

    Family family() {
        return way.meeting.family;
    }

    String base() {
        return way.meeting.base;
    }

    int stageBytes() {
        return STAGE_BYTES;
    }

    /** Gives back the memory of the devices. */
    void release() {
        context.release(DeviceMemory.class);
    }
}
