package ferro.backend.nccl.comm;

import ferro.spi.ControlLane;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;

/** A lane of a rank that sends nothing while it is muted, as one that stands still. */
record MutedLane(ControlLane lane, BooleanSupplier isMuted) implements ControlLane {
    @Override
    public int rank() {
        return lane.rank();
    }

    @Override
    public int worldSize() {
        return lane.worldSize();
    }

    @Override
    public ControlLane subgroup(int[] ranks, long group) {
        return new MutedLane(lane.subgroup(ranks, group), isMuted);
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        if (!isMuted.getAsBoolean()) {
            lane.control(peer, message);
        }
    }

    @Override
    public boolean afterControl(int peer, Runnable task) {
        return lane.afterControl(peer, task);
    }

    @Override
    public void events(PeerEvents events) {
        lane.events(events);
    }

    @Override
    public void close() {
        lane.close();
    }
}
