package ferro.spi;

import java.util.Optional;

/** Makes memory that processes of one host share; found by {@link java.util.ServiceLoader}, so that no back end knows another. */
public interface SharedMemoryProvider {
    /**
     * Returns why there can be none here.
     *
     * @param context settings
     * @return empty if there can
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Returns which host this rank counts as being on, before it has an area.
     *
     * @param context settings
     * @return as {@link SharedMemory#host} of what {@link #open} makes
     */
    String host(RankContext context);

    /**
     * Makes this rank's area, with all its memory reserved: writing to it cannot fail later.
     *
     * @param group   whose ranks will share
     * @param context settings, among them how much may be taken
     * @param bytes   size of the area of each rank, at most 2 GiB - 1, equal on all ranks of a host
     * @return this rank's area, and the way to those of the others
     * @throws ferro.FerroException RESOURCE if there is no room, saying how much was needed and how much there is
     */
    SharedMemory open(GroupSpec group, RankContext context, long bytes);

    /**
     * Returns whether all ranks of a group are threads of this process, so that each reaches every area without being told
     * where it is.
     *
     * @return then {@link SharedMemory#reach} takes any offer, and succeeds; nothing is exchanged
     */
    default boolean isOneProcess() {
        return false;
    }
}
