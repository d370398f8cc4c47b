package ferro.backend.nccl;

import ferro.Store;
import ferro.backend.nccl.ffi.LoadedLibraries;
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
     * @param borrowed whether the store was opened for this group, and must be given back with it
     * @param ranks    numbers of its ranks in the joined group
     */
    record Meeting(Store store, String base, boolean borrowed, int[] ranks) {
        /** Makes the meeting of a joined group. */
        static Meeting joined(Store store, String base, boolean borrowed, int worldSize) {
            return new Meeting(
                    store, base, borrowed, IntStream.range(0, worldSize).toArray());
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

    int[] ranks() {
        return way.meeting.ranks;
    }

    String base() {
        return way.meeting.base;
    }

    int stageBytes() {
        return STAGE_BYTES;
    }

    /** Gives back what is shared; last. */
    void release() {
        context.release(DeviceMemory.class);
        if (way.meeting.borrowed) {
            context.releaseStore();
        }
    }
}
