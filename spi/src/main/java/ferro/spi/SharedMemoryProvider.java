package ferro.spi;

import java.util.Optional;

/**
 * A service that creates memory that processes of one host share. {@link java.util.ServiceLoader} finds the
 * implementations of this service, so that no back end depends on another back end.
 */
public interface SharedMemoryProvider {
    /**
     * Returns why shared memory is not available in this process.
     *
     * @param context settings
     * @return reason; empty if shared memory is available
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Returns the name by which this rank identifies its host. The method may be called before the rank has a segment.
     *
     * @param context settings
     * @return same name as {@link SharedMemory#host} of the object that {@link #open} returns
     */
    String host(RankContext context);

    /**
     * Creates this rank's segment. Reserves the memory of the segment, except for the part that is reserved later, so
     * that a write cannot fail. Fails if the memory does not suffice for this segment and for the parts that all
     * ranks of the host may reserve later.
     *
     * @param group   group whose ranks will share memory. The timeout of the group is the deadline of the call that
     *     needs the memory, since the other ranks do not wait longer
     * @param context settings, including the maximum of memory that may be used
     * @param size    size of the segment of each rank, at most 2 GiB - 1 bytes, equal on all ranks of a host
     * @return this rank's segment, with access to the segments of the other ranks
     * @throws ferro.FerroException RESOURCE if too little memory is available; the message contains the bytes needed
     *     and the bytes available
     */
    SharedMemory open(GroupSpec group, RankContext context, SegmentSize size);

    /**
     * {@return whether all ranks of a group are threads of this process} In one process, each rank can access every
     * segment without an offer, so {@link SharedMemory#reach} accepts any offer and always succeeds.
     */
    default boolean isOneProcess() {
        return false;
    }
}
