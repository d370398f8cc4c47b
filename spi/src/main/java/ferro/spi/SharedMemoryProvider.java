package ferro.spi;

import java.util.Optional;

/**
 * Makes memory that processes of one host share; found by {@link java.util.ServiceLoader}, so that no back end depends on
 * another.
 */
public interface SharedMemoryProvider {
    /**
     * Returns why shared memory is not available here.
     *
     * @param context settings
     * @return empty if it is available
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Returns the name of the host that this rank counts as being on, before the rank has a segment.
     *
     * @param context settings
     * @return same as {@link SharedMemory#host} of the object that {@link #open} makes
     */
    String host(RankContext context);

    /**
     * Makes this rank's segment and reserves its memory, but for the part that is asked for later, so that a write cannot
     * fail. It is refused if the ranks of the host could not all have that part too.
     *
     * @param group   group whose ranks will share memory, with the deadline of the call that needs it: the others wait no longer
     * @param context settings, including the most memory that may be used
     * @param size    of the segment of each rank, at most 2 GiB - 1 bytes, equal on all ranks of a host
     * @return this rank's segment, and access to those of the others
     * @throws ferro.FerroException RESOURCE if there is not enough memory; the message says how much was needed and how
     *     much is available
     */
    SharedMemory open(GroupSpec group, RankContext context, SegmentSize size);

    /**
     * Returns whether all ranks of a group are threads of this process, so that each rank reaches every segment without
     * an offer.
     *
     * @return if true, {@link SharedMemory#reach} accepts any offer and succeeds, and no offers are exchanged
     */
    default boolean isOneProcess() {
        return false;
    }
}
