package ferro.control.group;

import ferro.control.failure.ControlMessage;
import ferro.spi.ControlLane;
import ferro.spi.GroupSpec;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntPredicate;

/** The sender of control messages to the other ranks of a group. Thread-safe; no method waits. */
final class ControlSender {
    private final ControlLane lane;
    private final GroupSpec group;
    private final OverlayNeighbours neighbours;

    ControlSender(ControlLane lane, GroupSpec group, OverlayNeighbours neighbours) {
        this.lane = lane;
        this.group = group;
        this.neighbours = neighbours;
    }

    /** Returns the name, rank and size of the group. */
    GroupSpec group() {
        return group;
    }

    /** Returns whether the group is so small that each rank sends messages to all other ranks. */
    boolean isSmall() {
        return neighbours.areAll();
    }

    /** Returns the neighbours of this rank. */
    OverlayNeighbours neighbours() {
        return neighbours;
    }

    /** Sends a message to one rank. */
    void tell(int peer, ControlMessage message) {
        lane.control(peer, message.encoded());
    }

    /** Sends a message to all other ranks. */
    void tellAll(ControlMessage message) {
        BitSet all = new BitSet();
        all.set(0, group.worldSize());
        send(all, message);
    }

    /** Sends a message to the neighbours that the condition accepts. Each receiver forwards a message that is new. */
    void sendToNeighbours(ControlMessage message, IntPredicate receives) {
        BitSet receivers = neighbours.ranks();
        for (int peer = receivers.nextSetBit(0); peer >= 0; peer = receivers.nextSetBit(peer + 1)) {
            receivers.set(peer, receives.test(peer));
        }
        send(receivers, message);
    }

    /** Sends a message to some ranks, except this rank. */
    void send(BitSet ranks, ControlMessage message) {
        ByteBuffer bytes = message.encoded();
        for (int peer = ranks.nextSetBit(0); peer >= 0 && peer < group.worldSize(); peer = ranks.nextSetBit(peer + 1)) {
            if (peer != group.rank()) {
                lane.control(peer, bytes.duplicate());
            }
        }
    }

    /** Sends a message to the next ranks around the ring, at most {@code most} ranks. */
    void tellNext(ControlMessage message, int most) {
        ByteBuffer bytes = message.encoded();
        for (int step = 1; step <= Math.min(most, group.worldSize() - 1); step++) {
            lane.control((group.rank() + step) % group.worldSize(), bytes.duplicate());
        }
    }
}
