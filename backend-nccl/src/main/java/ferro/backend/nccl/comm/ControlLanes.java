package ferro.backend.nccl.comm;

import ferro.backend.nccl.queue.GroupPosition;
import ferro.control.group.LocalLanes;
import ferro.spi.BrokenServices;
import ferro.spi.ControlLane;
import ferro.spi.ControlLaneProvider;
import ferro.spi.GroupSpec;
import ferro.spi.LogLines;
import ferro.spi.RankContext;
import ferro.spi.Services;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;

/** Connects the ranks of a joined group by control messages. */
final class ControlLanes {
    private static final Logger LOG = LogLines.logger("ferro.backend.nccl");

    private ControlLanes() {}

    /**
     * The result of {@link #connect}.
     *
     * @param position    position of the group
     * @param giveBack gives back the store after the close of the last group; the close of an own lane does it itself
     */
    record ConnectedLane(GroupPosition position, Runnable giveBack) {}

    /**
     * Connects this rank with the others: by the lane of the group's other half, if there is one, else by a lane of its
     * own. Without a provider of lanes the ranks know nothing of each other, and a warning says so.
     */
    static ConnectedLane connect(GroupSpec group, RankContext context) {
        Optional<ControlLane> lent = context.find(ControlLane.class);
        if (lent.isPresent()) {
            return new ConnectedLane(GroupPosition.unwatched(lent.get(), group), context::releaseStore);
        }
        BrokenServices broken = new BrokenServices();
        StringBuilder why = new StringBuilder();
        Optional<ControlLane> opened = Services.first(
                Services.of(ControlLaneProvider.class),
                provider -> {
                    Optional<String> reason = provider.unavailableBecause(context);
                    reason.ifPresent(text -> why.append("; ").append(text));
                    return reason.isPresent() ? Optional.empty() : Optional.of(provider.open(group, context));
                },
                broken::add);
        if (opened.isPresent()) {
            return new ConnectedLane(GroupPosition.joined(opened.get(), group, context), () -> {});
        }
        LOG.log(
                Level.WARNING,
                "group \"" + group.name() + "\" rank " + group.rank() + ": no control messages between the ranks" + why
                        + ": a rank that fails, ends or makes another call is known to the others only by their own"
                        + " deadlines: add ferro to the class path",
                broken.cause());
        return new ConnectedLane(GroupPosition.unconnected(deaf(group, context), group), context::releaseStore);
    }

    /** Returns a lane to ranks that hear nothing. */
    private static ControlLane deaf(GroupSpec group, RankContext context) {
        LocalLanes lanes = new LocalLanes(group.worldSize());
        for (int rank = 0; rank < group.worldSize(); rank++) {
            if (rank != group.rank()) {
                lanes.lane(rank, context.background()).close();
            }
        }
        return lanes.lane(group.rank(), context.background());
    }
}
