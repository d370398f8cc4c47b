package ferro.spi;

import java.util.Optional;

/**
 * A service that connects the ranks of a group by control messages alone. A back end that moves its data by a library
 * opens a control lane while it joins, and handles failures through this lane as all other back ends do. {@link
 * java.util.ServiceLoader} finds the implementations of this service.
 */
public interface ControlLaneProvider {
    /**
     * Returns why this provider cannot connect ranks in this process.
     *
     * @param context settings
     * @return reason; empty if the provider can be used
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Connects this rank with all other ranks of a group. Returns when all ranks are connected, at most after the time
     * limit of joining.
     *
     * @param group   group to join
     * @param context settings, clock, timers and store; the close of the lane releases the store
     * @return lane of this rank
     * @throws ferro.FerroException if the ranks cannot be connected; the location names the missing ranks
     */
    ControlLane open(GroupSpec group, RankContext context);
}
